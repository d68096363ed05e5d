// What the server says of a file, in the words of the page: the commands say it with their options, which a page has not.

import { words } from "./language.js";
import { compiled } from "./reason.js";

// As in reasons.json: `*` is any text, `{1}` the first of them; the first pattern that fits is used.
const NOTES = Object.entries({
  "*: read as *, cells separated by *": ["{1}: read as {2}, cells separated by {3}", "{1}：编码为 {2}，单元格以 {3} 分隔"],
  "*: read as *": ["{1}: read as {2}", "{1}：编码为 {2}"],
  "*: cells separated by *": ["{1}: cells separated by {2}", "{1}：单元格以 {2} 分隔"],
  "columns: *": ["columns: {1}", "列的对应：{1}"],
  "'*' is not read; to read it, use --map *=*": ["the column {1} is not read; to read it, name it {2}", "列 {1} 未读取；若要读取，请改名为 {2}"],
  "* of * responses are empty": ["{1} of {2} responses are empty", "{2} 条作答中有 {1} 条为空"],
  "in * of * rows the response is a short part of the reference; *": ["in {1} of {2} rows the response is a short part of the reference; if the columns are swapped, rename them", "{2} 行中有 {1} 行，作答只是参考答案的一小部分；若两列弄反了，请改列名"],
  "* of * references look like several answers, such as *; if any *": ["{1} of {2} references look like several answers, such as {3}; if any of them is right, judge the file by gradegpt judge --separator", "{2} 条参考答案中有 {1} 条像是几个答案，例如 {3}；若答出任意一个即可，请用命令 gradegpt judge --separator 评判"],
  "* cells under * columns; *": ["{1} cells under {2} columns; quote the cells that hold the separator", "{2} 列之下有 {1} 个单元格，含分隔符的单元格请加引号"],
  "not a JSON object (*); *": ["not a JSON object ({1}); write one {…} per line", "不是 JSON 对象（{1}），每行应为一个 {…}"],
  "*: an accepted answer is empty; *": ["{1}: an accepted answer is empty; there is nothing to grade against", "{1}：参考答案为空，无从评判"],
  "label * is not a verdict; use *": ["the label {1} is not a verdict; use true, false, correct, incorrect or invalid", "{1} 不是标注，请用 true、false、correct、incorrect 或 invalid"],
  "*: `*`: field required*; the columns are: *; use *": ["{1}: no column holds `{2}`; the columns are: {4}", "{1}：没有列 {2}；现有的列：{4}"],
  "*: `*` may be any of *; use *": ["{1}: `{2}` may be any of {3}; rename all but one", "{1}：{2} 可以是 {3} 中的任意一列；请只留一列，其余改名"],
  "*: field required": ["{1}: field required", "{1}：必填"],
  "*: there are no rows*": ["{1}: there are no rows", "{1}：没有可评判的行"],
}).map(([pattern, said]) => [compiled(pattern), said]);

/** A note in the language of the page; as it is where no pattern fits. */
export function noted(text) {
  const [pattern, said] = NOTES.find(([one]) => one.test(text)) ?? [];
  return pattern ? words(said, Object.fromEntries(pattern.exec(text).slice(1).map((value, at) => [at + 1, value]))) : text;
}
