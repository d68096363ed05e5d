"""``python -m gradegpt`` is ``gradegpt``: for launchers that take a module, such as torchrun."""

from gradegpt.app.cli import main

if __name__ == "__main__":
    main()
