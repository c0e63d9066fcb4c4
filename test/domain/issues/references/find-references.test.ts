import { describe, expect, it } from "vitest";

import {
  findIssueReferences,
  findReferences,
  REFERENCES_MAX,
} from "../../../../src/domain/issues/references/find-references.ts";
import { readTimeLog } from "../../../../src/domain/issues/references/read-time-log.ts";
import { makeRandom } from "../../../git/support/random.ts";

const ROOT = "https://forge.example/base";
const plain = (text: string) => findReferences(text, { isMarkdown: false, rootUrls: [ROOT] });
const markdown = (text: string) => findReferences(text, { isMarkdown: true, rootUrls: [ROOT] });

/** References as `action owner/repo#number +seconds`. */
const formatted = ({ issues }: ReturnType<typeof plain>): string[] =>
  issues.map(({ repo, number, action, seconds }) =>
    [
      action === "none" ? "" : action,
      `${repo ? `${repo.owner}/${repo.name}` : ""}#${number}`,
      seconds === 0 ? "" : `+${seconds}`,
    ]
      .filter((part) => part !== "")
      .join(" "),
  );

const numbersOf = ({ issues }: ReturnType<typeof plain>): number[] =>
  issues.map(({ number }) => number);

const numbered = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, at) => `#${first + at}`);

describe("references in plain text", () => {
  it.each<[string, string[]]>([
    ["#12", ["#12"]],
    ["!12", ["#12"]],
    [
      "see #1, #2; (#3) [#4] '#5' \"#6\" #7. #8? **#9**",
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `#${n}`),
    ],
    ["#12's title", ["#12"]],
    ["#0 #00", []],
    ["#12345678901", []],
    ["a#12 #12a \\#12 ##12 &#12; #12/3 #12-3", []],
    ["org/repo#3 Org/Re.po-x_y!4", ["org/repo#3", "org/re.po-x_y#4"]],
    ["a/b/c#1 /b#1 a/#1", []],
    [`${ROOT}/o/r/issues/5 ${ROOT}/O/R/pulls/6.`, ["o/r#5", "o/r#6"]],
    [`(${ROOT}/o/r/issues/5#issuecomment-9) <${ROOT}/o/r/pulls/7>`, ["o/r#5", "o/r#7"]],
    [`${ROOT}/o/r/issues/5/x ${ROOT}/o/r/issues/5x ${ROOT}/o/r/pulls/7/files`, []],
    ["https://other.example/base/o/r/issues/5 https://forge.example/o/r/issues/5", []],
    [`https://evil.example/?u=x${ROOT}/o/r/issues/5`, []],
    ["closes #1", ["closes #1"]],
    ["Resolves: #2, closes #3 and Fixed #4", ["closes #2", "closes #3", "closes #4"]],
    [
      "CLOSE #1 fix !2 fixes a/b#3 resolve: #4",
      ["closes #1", "closes #2", "closes a/b#3", "closes #4"],
    ],
    ["closed #1 fixed #2 resolved #3 resolves #4", [1, 2, 3, 4].map((n) => `closes #${n}`)],
    ["reopen #1 reopens: #2 Reopened #3", [1, 2, 3].map((n) => `reopens #${n}`)],
    [`fixes ${ROOT}/o/r/issues/5`, ["closes o/r#5"]],
    ["(fixes #1) [closes #2]", ["closes #1", "closes #2"]],
    ["fixes the #1", ["#1"]],
    ["closes #1, #2", ["closes #1", "#2"]],
    ["prefixes #1 fixes: : #2 fixes:#3 closes\n#4", ["#1", "#2", "#4"]],
    ["\"close #1\" 'fix #2' fixes (#3) fixes: [#4] fixes  #5 fixes\t#6", numbered(1, 6)],
    [`fixes ${ROOT}/o/r/issues/5#issuecomment-1`, ["o/r#5"]],
    ["**fixes #1** _fixes #2_ fixes #3** `fixes #4", ["#1", "#2", "#3", "#4"]],
    ["fixes o/r#1' fixes #2' fixes #3.) fixes #4.", ["o/r#1", "closes #2", "#3", "closes #4"]],
    ["[#1](https://x.example) [fixes #2](https://x.example)", ["#1", "closes #2"]],
    ["fixes #1 reopens #1 fixes #1", ["closes #1", "reopens #1"]],
    ["fixes #1 @1h30m", ["closes #1 +5400"]],
    ["@1h fixes #1 and #2 @30m", ["closes #1 +3600", "#2 +1800"]],
    ["fixes #1 @1h fixes #2 @2h", ["closes #1 +3600", "closes #2 +7200"]],
    ["fixes #1 (@2d)", ["closes #1 +57600"]],
    ["fixes #1 @alice", ["closes #1"]],
    ["", []],
  ])("%j", (text, expected) => {
    expect(formatted(plain(text))).toEqual(expected);
  });

  it.each([
    ["@1h30m", 5400],
    ["@90m", 5400],
    ["@1.5h", 5400],
    ["@1,5h.", 5400],
    ["@1d", 8 * 3600],
    ["@1w2d", 7 * 8 * 3600],
    ["@1mo", 160 * 3600],
    ["@1H30M", 5400],
    ["@30m1h", 0],
    ["@", 0],
    ["@1", 0],
    ["@1hour", 0],
    ["@999999mo", 0],
  ])("reads the time %j as %d s", (word, seconds) => {
    expect(readTimeLog(word)).toBe(seconds);
  });
});

describe("mentions", () => {
  it.each<[string, string[], string[]]>([
    ["@alice and @Bob-2, (@carol_x) @d.e.", ["alice", "bob-2", "carol_x", "d.e"], []],
    ["@alice @ALICE", ["alice"], []],
    ["@org/team, @Org/Team. @a/b/c", [], ["org/team"]],
    ["me@example.com a@b @", [], []],
    ["@alice's @bob: **@carol**", ["alice", "bob", "carol"], []],
  ])("%j", (text, users, teams) => {
    const found = markdown(text);
    expect(found.users).toEqual(users);
    expect(found.teams.map(({ org, team }) => `${org}/${team}`)).toEqual(teams);
  });
});

describe("references in Markdown", () => {
  it.each<[string, number[]]>([
    ["`#1` #2 ``#3 ` #4`` #5", [2, 5]],
    ["` #1", [1]],
    ["\\` #1 #2 \\`", [1, 2]],
    ["a `x\n#1` #2", [2]],
    ["a `x\n\n#1` #2", [2]],
    ["```\n#1\n```\n#2", [2]],
    ["~~~ js\n#1\n```\n#2\n~~~~\n#3", [3]],
    ["```\n#1", []],
    ["```x``` #1", [1]],
    ["> ```\n> #1\n> ```\n> #2", [2]],
    ["text\n\n    #1\n\ntext #2", [2]],
    ["    #1", []],
    ["text\n    #1", [1]],
    ["- item\n\n      #1\n\nend\n\n    #2", [1]],
    ["<!-- #1\n #2 --> #3", []],
    ["text <!-- #1\n #2 --> #3", [3]],
    ["<!-- #1", []],
    ["text <!-- #1", [1]],
    ["[#1](https://x.example) [#2]", [2]],
    [`[text](${ROOT}/o/r/issues/3)`, [3]],
    ["- [ ] #1\n- [x] #2\n* #3", [1, 2, 3]],
  ])("%j", (text, numbers) => {
    expect(numbersOf(markdown(text))).toEqual(numbers);
  });

  it("does not skip code in plain text", () => {
    expect(numbersOf(plain("`fixes #1`\n\n    #2"))).toEqual([2]);
  });
});

/** Forms of a keyword and a reference, and whether Gitea's rule, written as one pattern, acts. */
describe("keywords", () => {
  const before = ["", " ", "(", "[", "x", '"', "'", "*", "_", "`", "<", "{", "-", ",", "a\n", "\t"];
  const words = ["close", "Closes", "closed", "FIX", "fixes", "fixed", "resolve", "resolves"];
  const keywords = [...words, "resolved", "reopen", "reopens", "Reopened", "closing", "refixes"];
  const between = [" ", ": ", ":: ", ":", "  ", "\t", "\n", " (", " [", ' "', " *", "", "\u00a0"];
  const after = ["", " x", ")", "]", "'", '"', ".", ". x", ".x", "*", "_", "}", "`", ".)", "\n"];
  const short = ["#1", "!1"];
  const far = ["o/r#1", `${ROOT}/o/r/issues/1`, `${ROOT}/o/r/pulls/1`];
  const other = [`${ROOT}/o/r/issues/1#issuecomment-1`, "#x", "1"];

  const end = String.raw`(?:$|[\s)\]]|[:;,.?!](?:$|\s))`;
  const references = `(?:[#!]1(?:['"]|${end})|(?:${far.join("|")})${end})`;
  const keyword = String.raw`(?:(close|closes|closed|fix|fixes|fixed|resolve|resolves|resolved)|reopen|reopens|reopened)`;
  const RULE = new RegExp(String.raw`(?:^|[\s([])${keyword}:? ${references}`, "i");

  const actionsOf = ({ issues }: ReturnType<typeof plain>): string[] =>
    issues.map(({ action }) => action).filter((action) => action !== "none");
  const expectedOf = (text: string): string[] => {
    const match = RULE.exec(text);
    return match ? [match[1] === undefined ? "reopens" : "closes"] : [];
  };
  /** All combinations, each with another keyword. */
  const forms = (openings: readonly string[], referred: readonly string[]): string[] => {
    const texts: string[] = [];
    for (const opening of openings) {
      for (const gap of between) {
        for (const reference of referred) {
          for (const ending of after) {
            const word = keywords[texts.length % keywords.length] ?? "";
            texts.push(`${opening}${word}${gap}${reference}${ending}`);
          }
        }
      }
    }
    return texts;
  };
  const differing = (texts: readonly string[], find: typeof plain): string[] =>
    texts.filter((text) => actionsOf(find(text)).join() !== expectedOf(text).join());

  it("act in commits and titles by Gitea's rule alone", () => {
    const texts = forms(before, [...short, ...far, ...other]);
    expect(texts.length).toBeGreaterThan(10_000);
    expect(texts.filter((text) => expectedOf(text).length > 0).length).toBeGreaterThan(400);
    expect(differing(texts, plain)).toEqual([]);
  });

  it("act in Markdown by the same rule, where the text has no marks", () => {
    const isPlain = (text: string): boolean => !/[`*_<]|^\t|\(|\[/.test(text);
    const texts = forms(before, [...short, "o/r#1"]).filter(isPlain);
    expect(texts.filter((text) => expectedOf(text).length > 0).length).toBeGreaterThan(30);
    expect(differing(texts, markdown)).toEqual([]);
  });

  // Gitea looks for the keyword in the text as it is written.
  it("act in Markdown in front of a URL, whatever is behind it", () => {
    const start = new RegExp(String.raw`(?:^|[\s([])(?:${keyword}):? https`, "i");
    const isLink = (text: string): boolean => !/[`*_<{"'-]|^\t|\.x|\(|\[/.test(text);
    const texts = forms(before, far.slice(1)).filter(isLink);
    const acting = texts.filter((text) => start.test(text));
    expect(acting.length).toBeGreaterThan(30);
    expect(texts.filter((text) => actionsOf(markdown(text)).length > 0)).toEqual(acting);
  });

  it.each<[string, string[]]>([
    ["**fixes #1**", ["closes"]],
    ["It _closes #1_.", ["closes"]],
    ["***fixes #1 and more***", ["closes"]],
    ["**_fixes #1_**", ["closes"]],
    ["~~reopens #1~~", ["reopens"]],
    ["<b>fixes #1</b>", ["closes"]],
    ["- fixes #1\n- [ ] fixes #2", ["closes", "closes"]],
    ["> fixes #1", ["closes"]],
    ["# fixes #1", ["closes"]],
    ["(fixes #1)", ["closes"]],
    ["**fixes** #1", []],
    ["fixes **#1**", []],
    ["*fixes #1", []],
    ["fixes #1*", []],
    ["fixes `#1`", []],
    ["`fixes` #1", []],
    ["fixes [#1](https://x.example)", []],
    ["[fixes #1 now](https://x.example)", []],
    [`fixes [it](${ROOT}/o/r/issues/1)`, ["closes"]],
    [`reopens: [the [old] one](${ROOT}/o/r/issues/1)`, []],
    [`[it](${ROOT}/o/r/issues/1) fixes [that](${ROOT}/o/r/pulls/2#x)`, ["closes"]],
    [`fixes it (${ROOT}/o/r/issues/1)`, []],
    [`see ${ROOT}/o/r/issues/1, fixes ${ROOT}/o/r/issues/1`, []],
    [`fixes ${ROOT}/o/r/issues/1/`, []],
    [`fixes ${ROOT}/o/r/issues/1- fixes ${ROOT}/o/r/issues/2&a fixes ${ROOT}/o/r/issues/3.x`, []],
    [`(fixes ${ROOT}/o/r/issues/1#issuecomment-2).`, ["closes"]],
    [`fixes <${ROOT}/o/r/issues/1>`, []],
    ['<a title="it fixes #1 now">x</a>', []],
    ["<!-- fixes #1 -->", []],
    ["<!-- a\n\nfixes #1\n\n-->", []],
    ["<!--\n\nfixes #1", []],
    ["<details>\nfixes #1\n</details>", []],
    ["<details>\n\nfixes #1\n\n</details>", ["closes"]],
    ["<pre>\n\nfixes #1\n</pre>\nfixes #2", ["closes"]],
    ["text\n<div>fixes #1</div>\n\nfixes #2", ["closes"]],
  ])("in %j", (text, actions) => {
    expect(actionsOf(markdown(text))).toEqual(actions);
  });
});

describe("the references of an issue", () => {
  it("are those of its title, which is plain text, and of its body, which is Markdown", () => {
    const url = `${ROOT}/o/r/issues/2`;
    const found = findIssueReferences(
      { title: `fixes ${url} and **fixes #1** @a`, body: `fixes ${url} and **fixes #1** @a @b` },
      [ROOT],
    );
    expect(formatted(found)).toEqual(["closes o/r#2", "#1", "closes o/r#2", "closes #1"]);
    expect(found.users).toEqual(["a", "b"]);
  });
});

describe("the cost of finding references", () => {
  it("is bounded in what it finds", () => {
    const text = Array.from({ length: 1000 }, (_, at) => `#${at + 1} @u${at} @o/t${at}`).join(" ");
    const found = markdown(text);
    expect(found.issues).toHaveLength(REFERENCES_MAX);
    expect(found.users).toHaveLength(REFERENCES_MAX);
    expect(found.teams).toHaveLength(REFERENCES_MAX);
  });

  it.each([
    "a",
    "`",
    "a/",
    "#1",
    "@a",
    "<!--",
    "``` ",
    "[",
    "((",
    "fixes: ",
    ROOT,
    "~~~\n",
    "    x\n\n",
    "@1h",
    "*a ",
    "**a* ",
    "<a ",
    "<a b='",
    "[a](",
    "<div>\n",
    "<!--\n\n",
    "`` ` ",
    "> ",
    "-->`",
  ])("is linear for a long text of %j", (part) => {
    const text = part.repeat(Math.ceil(300_000 / part.length));
    // A quadratic search would take minutes, far beyond the time of a test.
    expect(markdown(text).issues.length).toBeLessThanOrEqual(REFERENCES_MAX);
    expect(plain(text).issues.length).toBeLessThanOrEqual(REFERENCES_MAX);
  });

  it("changes nothing outside of code: masked texts keep their references", () => {
    const random = makeRandom(7);
    for (let round = 0; round < 300; round++) {
      const words = Array.from({ length: 1 + random.below(20) }, () => {
        const number = 1 + random.below(50);
        const forms = [`#${number}`, `fixes #${number}`, `o/r#${number}`, "word", `@user${number}`];
        return random.pick(forms);
      });
      const text = words.join(" ");
      expect(markdown(text)).toEqual(plain(text));
      expect(markdown(`\`${text}\``)).toEqual({ issues: [], users: [], teams: [] });
      expect(markdown(`\`\`\`\n${text}\n\`\`\`\n\n${text}`)).toEqual(plain(text));
      expect(markdown(`${text}\n\n    ${text}`)).toEqual(plain(text));
    }
  });
});
