import { describe, expect, it } from "vitest";

import { toBody } from "../../../src/forges/gitlab/bodies.ts";

const CONTEXT = {
  numbering: { issueMax: 100, pullMax: 10 },
  projectPath: "group/sub.group/pro-ject",
  webUrl: "https://gitlab.example/group/sub.group/pro-ject",
};
const SECRET = "0123456789abcdef".repeat(2);
const UPLOADED = `${CONTEXT.webUrl}/uploads/${SECRET}/a.png`;

describe("toBody", () => {
  it.each([
    ["!12 is a merge request that was added later", "#114 is a merge request that was added later"],
    ["see !3, (!4) and **!5**.", "see #103, (#104) and **#105**."],
    ["#7 stays, as #100 does", "#7 stays, as #100 does"],
    ["#101 was added later", "#111 was added later"],
    ["group/sub.group/pro-ject!3 and GROUP/sub.group/pro-ject#4", "#103 and #4"],
    ["group/other!3 and pro-ject!3", "group/other!3 and pro-ject!3"],
    ["group/subXgroup/pro-ject!3", "group/subXgroup/pro-ject!3"],
    ["https://x.example/a!3 a!3 !3a !3-4 &!3", "https://x.example/a!3 a!3 !3a !3-4 &!3"],
    ["wow!!! !", "wow!!! !"],
    ["`!3` and ``!3 ` !3`` but !3", "`!3` and ``!3 ` !3`` but #103"],
    ["```\n!3\n```\n!3", "```\n!3\n```\n#103"],
    ["text\n\n    !3\n\n!3", "text\n\n    !3\n\n#103"],
    ["😀 !3 `😀!3` !4", "😀 #103 `😀!3` #104"],
  ])("translates references in %j", (text, body) => {
    expect(toBody(text, CONTEXT)).toBe(body);
  });

  it.each([
    [`![a](/uploads/${SECRET}/a.png)`, `![a](${UPLOADED})`],
    [`[a]: /uploads/${SECRET}/a.png`, `[a]: ${UPLOADED}`],
    [`<img src="/uploads/${SECRET}/a.png">`, `<img src="${UPLOADED}">`],
    [`![a](</uploads/${SECRET}/a.png>)`, `![a](<${UPLOADED}>)`],
    [`/uploads/${SECRET}/a.png`, UPLOADED],
    [`\`/uploads/${SECRET}/a.png\``, `\`/uploads/${SECRET}/a.png\``],
    [`https://x.example/uploads/${SECRET}/a.png`, `https://x.example/uploads/${SECRET}/a.png`],
    ["[a](/uploads/plan.md)", "[a](/uploads/plan.md)"],
  ])("completes addresses in %j", (text, body) => {
    expect(toBody(text, CONTEXT)).toBe(body);
  });

  it.each([null, undefined, ""])("is empty for %j", (text) => {
    expect(toBody(text, CONTEXT)).toBe("");
  });

  // In quadratic time, this takes half an hour.
  it("takes time in proportion to the text", () => {
    const text = "group/sub.group/pro-ject!".repeat(40_000) + "!".repeat(100_000);
    expect(toBody(text, CONTEXT)).toBe(text);
  });
});
