import { describe, expect, it } from "vitest";

import { markRuns } from "../../src/render/mark-runs.ts";

/** Runs of a text in which braces are around what is marked. */
const runsOf = (text: string) =>
  text.split(/[{}]/).map((part, at) => ({ text: part, isChanged: at % 2 === 1 }));

describe("a highlighted line with marks", () => {
  it.each([
    ["plain text", "let a = 1;", "let a = {1};", "let a = <b>1</b>;"],
    ["nothing marked", "<i>x</i>", "x", "<i>x</i>"],
    ["everything", "<i>x</i>y", "{xy}", "<i><b>x</b></i><b>y</b>"],
    [
      "marks across the elements of the highlighter",
      '<span class="k">let</span> <span class="n">name</span>',
      "l{et na}me",
      '<span class="k">l<b>et</b></span><b> </b><span class="n"><b>na</b>me</span>',
    ],
    ["entities, each one character", "a&lt;&amp;b", "a{<}&b", "a<b>&lt;</b>&amp;b"],
    ["elements in each other", "<i>a<u>b</u>c</i>", "a{bc}", "<i>a<u><b>b</b></u><b>c</b></i>"],
    ["several marks", "abcde", "{a}b{c}d{e}", "<b>a</b>b<b>c</b>d<b>e</b>"],
    ["characters of two units", "x😀y", "x{😀}y", "x<b>😀</b>y"],
    ["an empty line", "", "", ""],
    ["more text than its runs have", "abcd", "a{b}", "a<b>bcd</b>"],
  ])("has %s", (_, html, text, marked) => {
    expect(
      markRuns(
        html,
        runsOf(text).filter((run) => run.text !== ""),
      ),
    ).toBe(marked);
  });
});
