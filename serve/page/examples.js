// Examples to try.

export const EXAMPLES = {
  en: {
    right: {
      question: "A rectangle is 7 cm long and 4 cm wide. What is its perimeter?",
      reference: "22 cm",
      response: "The perimeter of a rectangle is twice the sum of its two sides.\n\n2 × (7 + 4) = 2 × 11 = 22\n\nSo the perimeter is 22 cm.",
    },
    wrong: {
      question: "A shirt costs 40 dollars and is reduced by 15 %. What does it cost now?",
      reference: "34 dollars",
      response: "15 % of 40 dollars is 6 dollars.\n\nThe price moves by that much: 40 + 6 = 46.\n\nThe answer is 46 dollars.",
    },
  },
  zh: {
    right: {
      question: "一列火车 3 小时行驶 270 千米，平均每小时行驶多少千米？",
      reference: "90 千米",
      response: "用路程除以时间：270 ÷ 3 = 90（千米）。\n\n验算：90 × 3 = 270，符合题意。\n\n答：平均每小时行驶 90 千米。",
    },
    wrong: {
      question: "一个数的 25% 是 18，这个数是多少？",
      reference: "72",
      response: "设这个数为 x，则 0.25x = 18。\n\n两边同时除以 0.25，得 x = 18 ÷ 0.25 = 70。\n\n所以这个数是 70。",
    },
  },
};

const ROWS = [
  { id: "perimeter", ...EXAMPLES.en.right, label: true },
  { id: "discount", ...EXAMPLES.en.wrong, label: false },
  { id: "火车", ...EXAMPLES.zh.right, label: true },
  { id: "百分数", ...EXAMPLES.zh.wrong, label: true },
  { id: "half", question: "Write 0.5 as a fraction.", reference: ["1/2", "\\frac{1}{2}"], response: "0.5 = 5/10, which is \\boxed{\\frac{1}{2}}.", label: "correct" },
  { id: "mineral", question: "Which is the hardest natural mineral? A. quartz B. topaz C. diamond D. talc", reference: "C", response: "On the Mohs scale quartz has 7, topaz 8, talc 1. The answer is C.", label: "correct" },
  { id: "奇偶", question: "判断：两个奇数的和一定是偶数。", reference: "正确", response: "设两个奇数为 2m+1 和 2n+1，和为 2(m+n+1)。所以答案：正确。", label: true },
  { id: "refused", question: "What is the height of the tower in the picture?", reference: "45 m", response: "I'm sorry, I cannot see a picture.", label: "invalid" },
  { id: "season", question: "Why is it colder in winter?", reference: "Because the Sun stands lower and the days are shorter.", response: "Because less sunlight reaches each square metre of ground.", label: true },
  { id: "weight", question: "How many grams are 1.2 kg?", reference: "1200 g", response: "1.2 kg = 1.2 × 1000 g = 1200 g", label: false },
  { question: "What is the next prime after 31?", reference: "37", response: "32 to 36 all have divisors, so the answer is 37." },
];

/** A small sample file: both languages, one wrong label, and one line that is cut off. */
export function sampleFile() {
  const lines = ROWS.map((row) => JSON.stringify(row));
  lines.splice(5, 0, '{"id": "cut off", "question": "What is 8 × 7?", "reference": "56", "resp');
  return new File([`${lines.join("\n")}\n`], "sample.jsonl");
}
