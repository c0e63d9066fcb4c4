import { describe, expect, it } from "vitest";

import { type ByteText, encodeText } from "../../../src/git/byte-text.ts";
import { addSignOff } from "../../../src/git/object/sign-off.ts";
import { stripSpace } from "../../../src/git/object/strip-space.ts";
import { git, gitBytes, makeDirectory } from "../support/git.ts";
import { makeRandom } from "../support/random.ts";

const PERSON = "C O Mitter <committer@example.com>";
const SIGNED = `Signed-off-by: ${PERSON}`;

/** Lines that git classifies in different ways. */
const LINES = [
  "",
  "",
  "a subject",
  "more words here",
  "Reviewed-by: X <x@example.com>",
  "Fixes : #1",
  "Not a trailer : x",
  "https://example.com/: not one either",
  " folded",
  "\tfolded",
  "(cherry picked from commit 0123456789abcdef0123456789abcdef01234567)",
  SIGNED,
  `${SIGNED} `,
  "Signed-off-by: Somebody Else <else@example.com>",
  "# a comment",
  "a-b_c: d",
  "Ends: in CR\r",
  ":",
  "x:",
];

describe("addSignOff", () => {
  const directory = makeDirectory();
  git(directory, ["init", "--quiet"]);
  const byGit = (message: string): string => {
    const args = ["commit", "--quiet", "--allow-empty", "--signoff", "--cleanup=verbatim", "-F-"];
    git(directory, args, { input: message });
    return git(directory, ["cat-file", "commit", "HEAD"]).split("\n\n").slice(1).join("\n\n");
  };
  const byUs = (message: string): string =>
    addSignOff(encodeText(message), PERSON as ByteText).replace(/\n$/, "");

  it.each([
    "subject\n",
    "subject\n\n",
    "subject\n\nbody\n",
    "subject\n\nReviewed-by: X <x@example.com>\n",
    `subject\n\n${SIGNED}\n`,
    `${SIGNED}\n`,
    `subject\n\n${SIGNED}\nReviewed-by: X <x@example.com>\n`,
    `subject\n\n${SIGNED}\n\n\n`,
    "Reviewed-by: X <x@example.com>\n",
    "subject\n\nSigned-off-by: A <a@example.com>\none\ntwo\nthree\nfour\n",
    "subject\n\nSigned-off-by: A <a@example.com>\none\ntwo\nthree\n",
    "subject\n\nA: b\n folded\n",
    "subject\n\nA: b\n# a comment\n",
  ])("edits %j as git does", (message) => {
    expect(byUs(message)).toBe(byGit(message));
  });

  it("edits random messages as git does", () => {
    const random = makeRandom(7);
    for (let round = 0; round < 60; round++) {
      const lines = Array.from({ length: 1 + random.below(8) }, () => random.pick(LINES));
      const message = `subject\n${lines.join("\n").replace(/\n+$/, "")}\n`;
      expect([message, byUs(message)]).toEqual([message, byGit(message)]);
    }
  });
});

describe("stripSpace", () => {
  it("cleans random texts as git stripspace does", () => {
    const random = makeRandom(9);
    const directory = makeDirectory();
    for (let round = 0; round < 60; round++) {
      const pieces = Array.from({ length: random.below(14) }, () =>
        " \t\r\v\f\n\n\nab".charAt(random.below(10)),
      );
      const text = encodeText(pieces.join(""));
      const theirs = gitBytes(directory, ["stripspace"], { input: Buffer.from(text, "latin1") });
      expect([text, stripSpace(text)]).toEqual([text, theirs.toString("latin1")]);
    }
  });
});
