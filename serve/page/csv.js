// CSV and TSV, as gradegpt.tables reads and writes them: UTF-8, quoted as in spreadsheets, every cell text.

export class TableError extends Error {
  constructor(key, values) {
    super(key);
    this.complaint = [key, values];
  }
}

export const separatorOf = (name) => (/\.tsv$/i.test(name) ? "\t" : ",");
export const isTable = (name) => /\.(csv|tsv)$/i.test(name);

/**
 * The columns of a table, and its rows as `{line, cells}`, `line` being the row's first line.
 *
 * Throws a `TableError` where a quote is not closed or a column occurs twice.
 */
export function parseTable(text, separator) {
  const [header, ...rows] = records(text.replace(/^\uFEFF/, ""), separator);
  const columns = header?.cells ?? [];
  const twice = columns.find((name, at) => name && columns.indexOf(name) < at);
  if (twice !== undefined) throw new TableError("bad.twice", { field: twice });
  return { columns, rows };
}

function records(text, separator) {
  const found = [];
  const token = new RegExp(`"([^"]*(?:""[^"]*)*)("?)|[^${separator}"\\r\\n][^${separator}\\r\\n]*|`, "y");
  let [line, at] = [1, 0];
  while (at < text.length) {
    const record = { line, cells: [] };
    for (let more = true; more; ) {
      token.lastIndex = at;
      const [whole, quoted, closed] = token.exec(text);
      const next = at + whole.length;
      if (quoted !== undefined && (!closed || !["\r", "\n", separator, undefined].includes(text[next]))) throw new TableError("bad.quote", { n: line });
      record.cells.push(quoted === undefined ? whole : quoted.replaceAll('""', '"'));
      line += quoted?.match(/\r\n|\r|\n/g)?.length ?? 0;
      more = text[next] === separator;
      at = more ? next + 1 : next;
    }
    at += text.startsWith("\r\n", at) ? 2 : 1;
    line += 1;
    if (record.cells.length > 1 || record.cells[0]) found.push(record);
  }
  return found;
}

/** A table as text; a missing value is an empty cell, a value that is no text is JSON. */
export function writeTable(columns, rows, separator) {
  return [columns, ...rows.map((row) => columns.map((name) => asCell(row[name])))].map((cells) => written(cells, separator)).join("");
}

const asCell = (value) => (value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value));

function written(cells, separator) {
  const all = cells.some((cell) => cell.includes("\r")) || (cells.length === 1 && !cells[0]);
  const quote = (cell) => all || cell.includes('"') || cell.includes("\n") || cell.includes(separator);
  return `${cells.map((cell) => (quote(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(separator)}\n`;
}
