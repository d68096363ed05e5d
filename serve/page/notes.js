// What the server says of a file or a request, in the words of the page: the commands say it with their options, which a page has not.

import { has, t, words } from "./language.js";

// As in reasons.json: `*` is any text, `{1}` the first of them, `{=1}` the same as a note, `{@1}` as the name of a field; the first pattern that fits is used.
const NOTES = Object.entries({
  "* complaints, *": ["{1} complaints", "有 {1} 处问题"],
  "no column is known as * or *; name it*": ["no column holds the {@1} or the {@2}; name those that hold them “{@1}” and “{@2}”; the columns are:", "没有“{@1}”和“{@2}”两列；请把写有它们的两列改名为“{@1}”和“{@2}”；现有的列："],
  "no column is known as *; name it*": ["no column holds the {@1}; name the one that holds it “{@1}”; the columns are:", "没有“{@1}”一列；请把写有{@1}的那一列改名为“{@1}”；现有的列："],
  "  --map *": ["", ""],
  "  * = *: *": ["{1}: {3}", "{1}：{3}"],
  "`*` may be any of *; use *": ["`{1}` may be any of {2}; rename all but one", "{1} 可以是 {2} 中的任意一列；请只留一列，其余改名"],
  "`*`: * in * rows* (first: *)": ["`{1}`: {=2} in {3} rows (first: {5})", "{1}：{=2}，共 {3} 行（首见于 {5}）"],
  "* in * rows* (first: *)": ["{=1} in {2} rows (first: {4})", "{=1}，共 {2} 行（首见于 {4}）"],
  "*; if it is something else, use *": ["{=1}; if it is something else, rename the column", "{=1}；若该列另有含义，请改列名"],
  "row *, *": ["row {1}, {2}", "第 {1} 行，{2}"],
  "row *": ["row {1}", "第 {1} 行"],
  "*, left out above the header: *": ["{=1}, left out above the header: {=2}", "{=1}；表头上方未读取：{=2}"],
  "left out above the header: *": ["left out above the header: {=1}", "表头上方未读取：{=1}"],
  "class list of * pupils; questions: *; left out: *": ["a class list of {1} pupils; questions: {2}; no pupils, and left out: {3}", "班级名单，{1} 名学生；题目：{2}；不是学生而略去的行：{3}"],
  "class list of * pupils; questions: *": ["a class list of {1} pupils; questions: {2}", "班级名单，{1} 名学生；题目：{2}"],
  "no reference answer of *, not judged": ["no reference answer of {1}, so it is not judged", "{1}没有参考答案，未评判"],
  "not judged, as no name of a question: *; to judge one, rename it *": ["not judged, as no name of a question: {1}; to judge one, rename it {2}", "列名不像题目，未评判：{1}；若要评判，请改名为 {2}"],
  "reference answers, but of no questions; rename * to *": ["reference answers, but of no questions; rename {1} to {2}", "有参考答案，但没有题目的列；请把 {1} 改名为 {2}"],
  "several pupils are called *; add *": ["several pupils are called {1}, and counted as one; add a column of their numbers", "有几名学生都叫{1}，会合在一起计分；请加一列学号"],
  "blank lines": ["blank lines", "空行"],
  "read as *, cells separated by *": ["read as {1}, cells separated by {2}", "编码为 {1}，单元格以 {2} 分隔"],
  "read as *": ["read as {1}", "编码为 {1}"],
  "cells separated by *": ["cells separated by {1}", "单元格以 {1} 分隔"],
  "'*' is not read; to read it, use --map *=*": ["the column {1} is not read; to read it, name it {@2}", "列 {1} 未读取；若要读取，请改名为{@2}"],
  "in * of * rows the response is a short part of the reference; *": ["in {1} of {2} rows the response is a short part of the reference; if the columns are swapped, rename them", "{2} 行中有 {1} 行，作答只是参考答案的一小部分；若两列弄反了，请改列名"],
  "* of * references look like several answers, such as *; if any *": ["{1} of {2} references look like several answers, such as {3}; if any of them is right, choose below what is between them", "{2} 条参考答案中有 {1} 条像是几个答案，例如 {3}；若答出任意一个即可，请在下方选择它们之间的分隔符"],
  "* of * questions have as many blanks as accepted answers, such as *; if *": ["{1} of {2} questions have as many blanks as accepted answers, such as {3}; if each is the answer of a blank, choose “nothing” as the separator", "{2} 行中有 {1} 行，题目的空与分隔出的答案一样多，例如 {3}；若是一空一个答案，请把分隔符选为“无”"],
  "label * is not a verdict; use *": ["the label {1} is not a verdict; use true, false, correct, incorrect or invalid", "{1} 不是标注，请用 true、false、correct、incorrect 或 invalid"],
  "there are no rows*": ["there are no rows under the names of the columns", "只有列名，其下没有数据行"],
  "the column * occurs twice; *": ["the column {1} occurs twice; rename one of them", "列 {1} 出现了两次，请改掉其中一个列名"],
  "has the sheets *; *": ["has several sheets with rows; choose one", "有多个工作表有内容，请选择一个"],
  "not a readable workbook (*)": ["not a readable workbook ({1})", "不是可以读取的 Excel 工作簿（{1}）"],
  "not a readable Parquet file (*)": ["not a readable Parquet file ({1})", "不是可以读取的 Parquet 文件（{1}）"],
  "not a readable table (*); *": ["not a readable table ({1}); quote cells that hold quotes or line ends", "不是可以读取的表格（{1}），含引号或换行的单元格请加引号"],
  "not a table; *": ["not a table; save it as .xlsx, .csv or .jsonl", "不是表格，请另存为 .xlsx、.csv 或 .jsonl"],
  "needs *; install it *": ["the server needs {1}; install it {2}", "服务器缺少 {1}，请在服务器上安装（{2}）"],
  "not JSON; if it is a CSV file*": ["not JSON; if it is a CSV file, name it .csv", "不是 JSON；若是 CSV 文件，请把扩展名改为 .csv"],
  "not JSON (*); *": ["not JSON ({1}); if every line is a separate object, name the file .jsonl", "不是 JSON（{1}）；若每行是一个对象，请把扩展名改为 .jsonl"],
  "* lists of rows are in one object; *": ["{1} lists of rows are in one object; put each into its own file", "一个对象里有 {1} 个列表，请分成几个文件"],
  "expected a list of objects, *; found *": ["expected a list of objects; found {2}", "应为对象的列表，却是 {2}"],
  "not * (*); save the file as UTF-8": ["not {1} ({2}); save the file as UTF-8", "不是 {1}（{2}），请另存为 UTF-8"],
  "* cells under * columns; *": ["{1} cells under {2} columns; quote the cells that hold the separator", "{2} 列之下有 {1} 个单元格，含分隔符的单元格请加引号"],
  "not a JSON object (*); *": ["not a JSON object ({1}); write one {…} per line", "不是 JSON 对象（{1}），每行应为一个 {…}"],
  "* instead of a* object*": ["{1} instead of an object", "应为对象，却是 {1}"],
  "an accepted answer is empty; *": ["an accepted answer is empty; there is nothing to grade against", "参考答案为空，无从评判"],
  "field required": ["field required", "必填"],
  "a formula without a value": ["a formula without a value", "公式没有值"],
  "a date, not text *": ["a date, not text (spreadsheets turn 3/4 into a date); format the cells as text and type them again", "是日期而不是文字（电子表格会把 3/4 变成日期），请把单元格设为文本格式后重新输入"],
  "expected text or a list of texts*": ["expected text or a list of texts", "应为文字，或由文字组成的列表"],
  "expected text": ["expected text", "应为文字"],
  "expected a number": ["expected a number", "应为数字"],
  "expected a list of texts": ["expected a list of texts", "应为由文字组成的列表"],
  "expected the test cases of a program, *; *": ["expected the test cases of a program, {1}", "应为程序的测试用例，如 {1}"],
  "expected an object": ["expected an object", "应为对象"],
  "expected at least one entry": ["expected at least one entry", "至少要有一项"],
  "should be greater than *": ["should be greater than {1}", "应大于 {1}"],
  "'*' or '*'": ["{1} or {2}", "{1} 或 {2}"],
  "should be *; did you mean *?": ["should be {1}; did you mean {2}?", "应为 {1}；是否想写 {2}？"],
  "should be *": ["should be {=1}", "应为 {=1}"],
  "* is no policy for numbers; use *": ["{1} is no policy for numbers; use {2}", "{1} 不是数值容差，请用 {2}"],
  "the body is over * bytes; *": ["the body is over {1} bytes; send less at once, or start the server with a larger max_body_bytes", "超过 {1} 字节；请减少一次发送的内容，或让服务器以更大的 max_body_bytes 启动"],
  "not judged within * s; *": ["not judged within {1} s", "{1} 秒内没有评判完"],
  "the body did not arrive within * s; *": ["not received within {1} s", "{1} 秒内没有传完"],
  "an error in the *, not in the request; *": ["an error in the {1}; see the server's log", "服务器内部出错，详见服务器日志"],
  "the server * stop*": ["the server is stopping", "服务器正在停止"],
  "* items wait, at most * may; *": ["{1} items wait; try again later", "有 {1} 条在排队，请稍后再试"],
}).map(([pattern, said]) => [compiled(pattern), said]);

/** A `*` at the beginning takes no `: `, so that what comes before, such as a file's name, is no part of the note. */
function compiled(pattern) {
  const source = pattern.split("*").map((part) => part.replace(/[^\w ]/g, "\\$&")).join("(.*?)");
  return new RegExp(`^${source.replace(/^\(\.\*\?\)/, "((?:(?!: ).)*?)")}$`);
}

/** A field in words; as it is where it has none. */
const nameOf = (field) => (has(`column.${field}`) ? t(`column.${field}`) : has(field) ? t(field) : field).toLowerCase();

/** The columns that hold a field and have another name, as one note or none. */
export function mapped(fields) {
  const columns = Object.entries(fields).filter(([field, column]) => ![field, nameOf(field)].includes(column.toLowerCase())).map(([field, column]) => `${nameOf(field)} = ${column}`);
  return columns.length ? [t("file.columns", { columns: columns.join(t("comma")) })] : [];
}

/** A note in the language of the page, line by line; as it is where no pattern fits; without lines that say nothing here. */
export const noted = (text) => text.split("\n").map(inLine).filter(Boolean).join("\n");

function inLine(text) {
  const [pattern, said] = NOTES.find(([one]) => one.test(text)) ?? [];
  if (pattern) return words(said, Object.fromEntries(pattern.exec(text).slice(1).flatMap((value, at) => [[at + 1, value], [`=${at + 1}`, inLine(value)], [`@${at + 1}`, nameOf(value)]])));
  const [, place, rest] = /^(.*?): (.*)$/.exec(text) ?? [];
  const translated = rest === undefined ? rest : inLine(rest);
  return translated === rest ? text : words(["{1}: {2}", "{1}：{2}"], { 1: inLine(place.trimStart()), 2: translated });
}
