import { describe, expect, it } from "vitest";

import { readSuggestion } from "../../../../src/domain/pulls/reviews/read-suggestion.ts";

describe("readSuggestion", () => {
  it.each([
    ["a block", "Try:\n```suggestion\na\n b\n```\nand more", "a\n b\n"],
    ["an empty block", "```suggestion\n```", ""],
    ["a blank line", "```suggestion\n\n```", "\n"],
    ["a block with a longer fence", "````suggestion\n```\n````", "```\n"],
    ["a block without an end", "```suggestion\na", "a\n"],
    ["an indented block", "  ```suggestion\n    a\n b\n  ```", "  a\nb\n"],
    ["carriage returns", "```suggestion\r\na\r\n```\r\n", "a\n"],
    ["the first of two", "```suggestion\na\n```\n```suggestion\nb\n```", "a\n"],
    ["no block", "suggestion", undefined],
    ["a block of another language", "```ts\nsuggestion\n```", undefined],
  ])("reads %s", (_, body, text) => {
    expect(readSuggestion(body)).toBe(text);
  });
});
