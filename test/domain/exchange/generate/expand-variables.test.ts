import { describe, expect, it } from "vitest";

import {
  expandVariables,
  makeVariables,
  pathVariables,
} from "../../../../src/domain/exchange/generate/expand-variables.ts";
import { decodeText, encodeText } from "../../../../src/git/byte-text.ts";

const TEMPLATE = { ownerName: "org", name: "base-kit", description: "" };
const makeFor = (name: string, description = "") =>
  makeVariables(
    { ownerName: "Ann-B", name, description },
    TEMPLATE,
    "https://forge.example",
    Date.UTC(2026, 2, 4),
  );
const expand = (text: string, variables = makeFor("MyHTTPServer-v2"), lengthMax = 10_000) =>
  decodeText(expandVariables(encodeText(text), variables, lengthMax));

describe("expandVariables", () => {
  it.each([
    ["$REPO_NAME", "MyHTTPServer-v2"],
    ["${REPO_NAME}s", "MyHTTPServer-v2s"],
    ["$REPO_NAME_SNAKE", "my_http_server_v2"],
    ["$REPO_NAME_KEBAB", "my-http-server-v2"],
    ["$REPO_NAME_CAMEL", "myHttpServerV2"],
    ["$REPO_NAME_PASCAL", "MyHttpServerV2"],
    ["$REPO_NAME_LOWER", "myhttpserver-v2"],
    ["$REPO_NAME_UPPER", "MYHTTPSERVER-V2"],
    ["$REPO_NAME_TITLE", "Myhttpserver-V2"],
    ["$REPO_OWNER/$REPO_OWNER_SNAKE", "Ann-B/ann_b"],
    ["${TEMPLATE_OWNER}/${TEMPLATE_NAME_PASCAL}", "org/BaseKit"],
    ["$REPO_LINK", "https://forge.example/Ann-B/MyHTTPServer-v2"],
    ["$TEMPLATE_HTTPS_URL", "https://forge.example/org/base-kit.git"],
    ["$REPO_SSH_URL", "git@forge.example:Ann-B/MyHTTPServer-v2.git"],
    ["$YEAR-$MONTH-$DAY in $MONTH_ENGLISH", "2026-03-04 in March"],
    // What is no variable of a template stays: scripts have their own.
    [
      "$HOME ${HOME} $REPO_NAMES ${REPO_NAME $ $$ ${}",
      "$HOME ${HOME} $REPO_NAMES ${REPO_NAME $ $$ ${}",
    ],
    ["ä $REPO_NAME_LOWER ü", "ä myhttpserver-v2 ü"],
  ])("makes of %s", (text, expected) => {
    expect(expand(text)).toBe(expected);
  });

  it("inserts values as they are, in UTF-8", () => {
    const variables = makeFor("x", "Ünïcode & $REPO_NAME $& $1");
    expect(expand("<$REPO_DESCRIPTION>", variables)).toBe("<Ünïcode & $REPO_NAME $& $1>");
  });

  // A description of 2,048 characters would make gigabytes of a file of a megabyte.
  it("refuses a result above the limit before it is built", () => {
    const variables = makeFor("x", "d".repeat(2048));
    expect(() => expand("$REPO_DESCRIPTION".repeat(50_000), variables)).toThrow(/10000 bytes/);
  });
});

describe("pathVariables", () => {
  it.each([
    ["../../etc", "____etc"],
    ["a/b\\c:d", "a_b_c_d"],
    ["con", "_"],
    [" a\0b\n ", "a_b_"],
    ["plain.name-1", "plain.name-1"],
  ])("makes %j safe as a part of a path", (description, expected) => {
    const safe = pathVariables(makeFor("x", description));
    expect(safe.get("REPO_DESCRIPTION")).toBe(expected);
  });
});
