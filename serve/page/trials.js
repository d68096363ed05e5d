// The words of a template's trials in English and Chinese; the tests compare their names with the server's.

export const TRIALS = {
  "a right response": ["A right response is read back", "读回正确的作答"],
  "a wrong response": ["A wrong response is read back", "读回错误的作答"],
  "a response without an answer": ["A response without an answer is read back", "读回没有答案的作答"],
  "Chinese": ["Chinese text is read back", "读回中文"],
  "several lines": ["Texts of several lines are read back", "读回多行文字"],
  "a response that quotes the template": ["A response that quotes the template is read back", "读回引用模板本身的作答"],
  "the reply for correct": ["The reply for correct is read as such", "“正确”的回复能如实读出"],
  "the reply for incorrect": ["The reply for incorrect is read as such", "“错误”的回复能如实读出"],
  "the reply for invalid": ["The reply for invalid is read as such", "“无效”的回复能如实读出"],
  "no other family": ["No other family of prompts is confused with it", "不与其他提示词族混淆"],
};

export const SAID = {
  passed: ["The template passed all {total} trials", "模板通过了全部 {total} 项检验"],
  failed: ["The template failed {n} of {total} trials", "模板未通过 {total} 项检验中的 {n} 项"],
  unusable: ["The template cannot be used", "模板无法使用"],
  change: ["Change the template and try it again.", "请修改模板后再试。"],
  trials: ["Trials", "检验"],
  trialPassed: ["passed", "通过"],
  trialFailed: ["failed", "未通过"],
  replies: ["The reply for each verdict", "每种判定的回复"],
  none: ["no reply", "没有回复"],
  read: ["What is read from the prompt", "从提示词中读出的内容"],
  unread: ["The prompt is not one of this template", "这条提示词不属于此模板"],
  blank: ["(empty)", "（空）"],
  use: ["Use the template", "使用模板"],
  save: ["Download {name}", "下载 {name}"],
  start: ["Put the file into the folder in which the server is started, and start it with:", "把文件放到启动服务器的目录中，然后这样启动："],
  several: ["With several templates: templates=[{name},other.yaml]", "有多个模板时：templates=[{name},other.yaml]"],
  unreadable: ["{name} cannot be read; it must be a YAML file in UTF-8 of at most 64 KB.", "{name} 无法读取；应为不超过 64 KB 的 UTF-8 YAML 文件。"],
  empty: ["Write a template, or try the example.", "请填写模板，或试试示例。"],
  parts: ["What a template has", "模板的内容"],
};

/** The fields of a template, in the order in which they are explained. */
export const FIELDS = {
  "name": ["Its name: one word in lower case.", "名称：一个小写英文单词。"],
  "template": [
    "The prompt as it is sent. {reference} and {response} are needed, {question} is not; any other {name} stands for text that changes.",
    "实际发送的提示词。{reference} 和 {response} 必填，{question} 选填；其他 {name} 代表会变化的文字。",
  ],
  "system": ["Optional: the system message before it.", "选填：提示词之前的系统消息。"],
  "reply": ["The words for correct and incorrect; optionally for invalid, where there is nothing to grade.", "correct（正确）和 incorrect（错误）的回复；选填 invalid（没有可评判的答案）。"],
  "reply.form": [
    "Optional: words (default), line, boxed, json or schema. line, json and schema need reply.key, such as verdict.",
    "选填：words（默认）、line、boxed、json 或 schema。line、json 和 schema 还需填写 reply.key，例如 verdict。",
  ],
};

/** A template with a prompt as it is sent. */
export const EXAMPLE = {
  template: [
    `name: acme
template: |
  Ticket {ticket}
  Question: {question}
  Reference: {reference}
  Response: {response}
  Reply PASS if the response reaches the reference, else FAIL.
reply:
  correct: PASS
  incorrect: FAIL
`,
    `name: acme
template: |
  工单 {ticket}
  题目：{question}
  参考答案：{reference}
  作答：{response}
  若作答得出参考答案，请回复“通过”，否则回复“不通过”。
reply:
  correct: 通过
  incorrect: 不通过
`,
  ],
  prompt: [
    `Ticket 17
Question: A rectangle is 7 cm long and 4 cm wide. What is its perimeter?
Reference: 22 cm
Response: 2 × (7 + 4) = 22, so the perimeter is 22 cm.
Reply PASS if the response reaches the reference, else FAIL.
`,
    `工单 17
题目：一列火车 3 小时行驶 270 千米，平均每小时行驶多少千米？
参考答案：90 千米
作答：270 ÷ 3 = 90，所以平均每小时行驶 90 千米。
若作答得出参考答案，请回复“通过”，否则回复“不通过”。
`,
  ],
};
