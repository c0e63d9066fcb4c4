import { describe, expect, it } from "vitest";

import type { TextForm } from "../../../../src/domain/code/contents/text-form.ts";
import { applyDefinition } from "../../../../src/domain/code/editorconfig/apply-definition.ts";

const LF: TextForm = { lineEnd: "lf", hasMark: false };

const apply = (text: string, definition: Record<string, string>, form = LF): string =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(applyDefinition(text, definition, form));

describe("applyDefinition", () => {
  it.each([
    ["what browsers send, by line feeds", "a\r\nb\rc\n", {}, LF, "a\nb\nc\n"],
    ["line ends as they were", "a\r\nb\n", {}, { lineEnd: "crlf", hasMark: false }, "a\r\nb\r\n"],
    ["line ends as asked", "a\r\nb\n", { end_of_line: "crlf" }, LF, "a\r\nb\r\n"],
    ["line ends, of which it knows none, as they were", "a\n", { end_of_line: "cr" }, LF, "a\n"],
    ["space at the ends of lines", "a \t\n b  ", { trim_trailing_whitespace: "true" }, LF, "a\n b"],
    ["space where it stays", "a  \n", { trim_trailing_whitespace: "false" }, LF, "a  \n"],
    ["a last line", "a\nb", { insert_final_newline: "true" }, LF, "a\nb\n"],
    ["no line of an empty file", "", { insert_final_newline: "true" }, LF, ""],
    ["a byte order mark", "a\n", {}, { lineEnd: "lf", hasMark: true }, "\uFEFFa\n"],
    ["a byte order mark that is asked for", "a\n", { charset: "utf-8-bom" }, LF, "\uFEFFa\n"],
  ] as const)("writes %s", (_name, text, definition, form, expected) => {
    expect(apply(text, definition, form)).toBe(expected);
  });
});
