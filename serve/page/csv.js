// CSV and TSV, as gradegpt.tables writes them: quoted as in spreadsheets, every cell text.

/** A table as text; a missing value is an empty cell, a value that is no text is JSON. */
export function writeTable(columns, rows, separator = ",") {
  return [columns, ...rows.map((row) => columns.map((name) => asCell(row[name])))].map((cells) => written(cells, separator)).join("");
}

const asCell = (value) => (value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value));

function written(cells, separator) {
  const all = cells.some((cell) => cell.includes("\r")) || (cells.length === 1 && !cells[0]);
  const quote = (cell) => all || cell.includes('"') || cell.includes("\n") || cell.includes(separator);
  return `${cells.map((cell) => (quote(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(separator)}\n`;
}
