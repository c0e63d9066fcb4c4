import { describe, expect, it } from "vitest";

import { readLogLine, toTerminalHtml } from "../../src/render/log-text.ts";

describe("a row of a log", () => {
  it.each([
    ["plain", "text", "plain"],
    ["##[group]Install", "group", "Install"],
    ["##[endgroup]", "end", ""],
    ["::group::Install", "group", "Install"],
    ["::endgroup::", "end", ""],
    ["::error file=a.ts,line=1,title=A%3AB::bad%0Aworse", "error", "bad\nworse"],
    ["##[error]50%25", "error", "50%25"],
    ["::debug::x", "debug", "x"],
    ["##[section]Start", "command", "Start"],
    ["##[command]git", "command", "git"],
    ["::set-output name=a::b", "text", "::set-output name=a::b"],
    ["##[unknown]a", "text", "##[unknown]a"],
    [" ::error::a", "text", " ::error::a"],
    ["::error", "text", "::error"],
    ["::constructor::a", "text", "::constructor::a"],
  ])("is read by its command: %j", (row, kind, text) => {
    expect(readLogLine(row)).toEqual({ kind, text });
  });
});

describe("a text for a terminal", () => {
  it.each([
    ["<b>&\"'", "&lt;b&gt;&amp;&quot;'"],
    ["\u001B[31mred\u001B[39m.", '<span class="t31">red</span>.'],
    [
      "\u001B[1;4;92mx\u001B[22my\u001B[0mz",
      '<span class="t1 t4 t92">x</span><span class="t4 t92">y</span>z',
    ],
    ["\u001B[mx", "x"],
    [
      "\u001B[38;5;1ma\u001B[48;5;12mb\u001B[49;38;5;200mc",
      '<span class="t31">a</span><span class="t31 t104">b</span>c',
    ],
    ["\u001B[38;2;1;31;4mx", "x"],
    ["\u001B[31", ""],
    ["a\u001B", "a"],
    ["\u001B[2J\u001B[10;10Hx\u001B(Bz", "xBz"],
    ["\u001B]0;title\u0007x\u001B]8;;http://a\u001B\\y", "xy"],
    ['\u001B[31"><script>m', "&gt;&lt;script&gt;m"],
    ["\u001B[999;;31mx", '<span class="t31">x</span>'],
    ["\u001B[-1;31mx", "1;31mx"],
  ])("is written with classes: %j", (text, html) => {
    expect(toTerminalHtml(text)).toBe(html);
  });

  it("takes time by its length alone", () => {
    for (const part of ["\u001B[", "\u001B]", "::error ", "\u001B[1;", "0;"]) {
      const text = part.repeat(20_000);
      expect(toTerminalHtml(text).length).toBeLessThan(text.length * 10);
      expect(readLogLine(text).text.length).toBeLessThanOrEqual(text.length);
    }
  });
});
