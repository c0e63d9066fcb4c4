import { describe, expect, it, vi } from "vitest";

import { findReferences } from "../../src/domain/issues/references/find-references.ts";
import { StepBudget } from "../../src/lib/step-budget.ts";
import type { References, Tracker } from "../../src/render/references.ts";
import { RENDER_STEPS_MAX } from "../../src/render/render-budget.ts";
import { knowAll, render, renderComment, REPO_URL, ROOT_URL } from "./render-text.ts";

describe("references", () => {
  it.each([
    ["@ada.", `<a href="${ROOT_URL}/ada" rel="nofollow">@ada</a>.`],
    ["(@a-b_c)", `(<a href="${ROOT_URL}/a-b_c" rel="nofollow">@a-b_c</a>)`],
    ["@org/team", `<a href="${ROOT_URL}/org/org/teams/team" rel="nofollow">@org/team</a>`],
    ["#12,", `<a href="${REPO_URL}/issues/12" class="ref-issue" rel="nofollow">#12</a>,`],
    ["!13", `<a href="${REPO_URL}/pulls/13" class="ref-issue" rel="nofollow">!13</a>`],
    ["o/r#12", `<a href="${ROOT_URL}/o/r/issues/12" class="ref-issue" rel="nofollow">o/r#12</a>`],
    [
      "fixed by abcdef1",
      `<a href="${REPO_URL}/commit/abcdef1${"0".repeat(33)}" class="commit" rel="nofollow"><code>abcdef1000</code></a>`,
    ],
    ["o/r@abcdef1", "<code>o/r@abcdef1000</code></a>"],
    ["**#12**", `<strong><a href="${REPO_URL}/issues/12"`],
    ["<b>#12</b>", `<b><a href="${REPO_URL}/issues/12"`],
    ["<div>#12</div>", `<div><a href="${REPO_URL}/issues/12"`],
  ])("become links if they exist: %j", async (source, html) => {
    expect(await render(source, { resolve: knowAll })).toContain(html);
  });

  it.each([
    "`@ada #12`",
    "    @ada #12\n",
    "```\n@ada abcdef1\n```",
    "<code>@ada #12</code>",
    "<pre>\n@ada\n\n#12\n</pre>",
    '<p title="@ada #12">x</p>',
    "ada@host-9 a#12 #12a &#1234; x/y#z",
    "abcdef12345g 1abcdef1x",
  ])("are ignored in code, attributes and other words: %j", async (source) => {
    expect(await render(source, { resolve: knowAll })).not.toContain("<a ");
  });

  it("are ignored inside links", async () => {
    const html = await render('[@ada #12](x) <a href="y">#12</a> ![@ada](z)', { resolve: knowAll });
    expect(html).not.toContain("ref-issue");
    expect(html).not.toContain(`${ROOT_URL}/ada"`);
  });

  it("stay text if they do not exist, or without a lookup", async () => {
    const resolve = vi.fn<typeof knowAll>(async () => ({
      users: new Set<string>(),
      teams: new Set<never>(),
      issues: new Map(),
      commits: new Map(),
    }));
    const source = "@ghost @o/t #404 abcdef1";
    expect(await render(source, { resolve })).toBe(`<p>${source}</p>\n`);
    expect(await render(source)).toBe(`<p>${source}</p>\n`);
    expect(resolve).toHaveBeenCalledTimes(1);
  });

  it("are looked up in one call, each once", async () => {
    const resolve = vi.fn<typeof knowAll>(knowAll);
    const { repo: _repo, ...outside } = { repo: undefined, resolve };
    await render("plain text", { ...outside, mode: "markdown" });
    expect(resolve).not.toHaveBeenCalled();

    await render("@ada @ada #1 #1 !1 o/r#1 @o/t abcdef1 abcdef1", { resolve });
    expect(resolve).toHaveBeenCalledExactlyOnceWith({
      users: ["ada"],
      teams: [{ org: "o", team: "t" }],
      issues: [{ index: 1 }, { owner: "o", name: "r", index: 1 }],
      commits: [{ prefix: "abcdef1" }],
    });
  });

  // A text with many names must not cause as many queries.
  it("are looked up for at most 200 of each kind", async () => {
    const resolve = vi.fn<typeof knowAll>(knowAll);
    const names = Array.from({ length: 300 }, (_, index) => `@user${index}`);
    await render(names.join(" "), { resolve });
    expect(resolve.mock.calls[0]?.[0].users).toHaveLength(200);
  });

  it("are ignored in plain documents", async () => {
    const resolve = vi.fn<typeof knowAll>(knowAll);
    await render("@ada #12", { resolve, mode: "markdown" });
    expect(resolve).not.toHaveBeenCalled();
  });
});

// A reader expects that a link notifies, and that a reference that counts is a link.
describe("references that count for timelines and notifications", () => {
  it.each([
    "#1",
    "(#1)",
    "#1.",
    "#1:",
    "[#1]",
    '"#1"',
    "'#1'",
    "a#1",
    "#1a",
    "#1-2",
    "o/r#1",
    "(o/r#1)",
    "o/r!1",
    "!1",
    "x/#1",
    "--#1",
    "#1;",
    "#1!",
    "#1?",
    "**#1**",
    "~~#1~~",
    "closes #1",
    "&#1",
    "#1#2",
    "#1/2",
    "`#1`",
    "@ada",
    "@ada,",
    "(@ada)",
    "@ada.",
    "@ada!",
    "x@ada",
    "@ada/team",
    "@ada/team.",
    "@ada's",
    "@a_b",
    "@ada:",
    "/@ada",
    "`@ada`",
    "@ada…",
  ])("are the same that become links: %j", async (text) => {
    const seen: References[] = [];
    await renderComment(text, {
      resolve: (found) => {
        seen.push(found);
        return knowAll(found);
      },
    });
    const counted = findReferences(text, { isMarkdown: true, rootUrls: [ROOT_URL] });
    const { issues = [], users = [], teams = [] } = seen[0] ?? {};
    expect(issues.map(({ owner, name, index }) => [owner, name, index])).toEqual(
      counted.issues.map(({ repo, number }) => [repo?.owner, repo?.name, number]),
    );
    expect([users, teams]).toEqual([counted.users, counted.teams]);
  });
});

describe("references to an external tracker", () => {
  const tracker = (style: Tracker["style"], regexpPattern = ""): Tracker => ({
    format: "https://tracker.example/{user}/{repo}?issue={index}",
    style,
    regexpPattern,
  });
  /**
   * As the caller who knows the tracker beforehand, and as the one who learns of it by the lookup.
   */
  const renderBoth = async (source: string, known: Tracker) => {
    const early = await render(source, { resolve: knowAll, tracker: known });
    const resolve = async (found: References) => ({ ...(await knowAll(found)), tracker: known });
    expect(await render(source, { resolve })).toBe(early);
    return early;
  };
  const linkTo = (index: string, text: string) =>
    `<a href="https://tracker.example/ada/engine?issue=${index}" class="ref-issue ref-external-issue" rel="nofollow">${text}</a>`;

  it.each([
    [tracker("numeric"), "see #12, (#13)", `see ${linkTo("12", "#12")}, (${linkTo("13", "#13")})`],
    [tracker("alphanumeric"), "see AB-12.", `see ${linkTo("AB-12", "AB-12")}.`],
    [tracker("regexp", "\\[\\w+/(\\d+)\\]"), "[x/7]", linkTo("7", "[x/7]")],
    [
      tracker("regexp", "(?i)bug:(.+)!"),
      "😀é BUG:a/b&c!",
      `😀é ${linkTo("a%2Fb%26c", "BUG:a/b&amp;c!")}`,
    ],
    [
      tracker("regexp", "x(\\d)y|z()"),
      "one x1y\ntwo x2y",
      `one ${linkTo("1", "x1y")}\ntwo ${linkTo("2", "x2y")}`,
    ],
  ])("become links by its style: %j %j", async (known, source, html) => {
    expect(await renderBoth(source, known)).toBe(`<p>${html}</p>\n`);
  });

  // Pull requests are here, and so are the issues of other repositories.
  it("leave those to pull requests and other repositories", async () => {
    const html = await renderBoth("#12 !13 o/r#12 abcdef1 @ada", tracker("numeric"));
    expect(html).toContain(linkTo("12", "#12"));
    expect(html).toContain(`href="${REPO_URL}/pulls/13" class="ref-issue"`);
    expect(html).toContain(`href="${ROOT_URL}/o/r/issues/12" class="ref-issue"`);
    expect(html).toContain('class="commit"');
    expect(html).toContain(">@ada</a>");
  });

  it.each(["`#12`", "[#12](x)", "a#12 #12a", "    #12\n"])("are ignored in %j", async (source) => {
    expect(await renderBoth(source, tracker("numeric"))).not.toContain("external");
  });

  it.each([
    ["no pattern", tracker("regexp", "(")],
    ["a pattern without a group", tracker("regexp", "#\\d+")],
    ["a pattern of too many states", tracker("regexp", "(a{1000}b{1000})")],
    ["an empty match", tracker("regexp", "()")],
    ["a format that is a script", { ...tracker("numeric"), format: "javascript:alert({index})" }],
    ["a format that is no URL", { ...tracker("numeric"), format: "{index}" }],
  ])("stay text with %s", async (_, known) => {
    const html = await renderBoth("see #12 aab", known);
    expect(html).not.toMatch(/external|script|tracker/);
  });

  // SECURITY: a platform pattern like this would take the lifetime of the universe.
  it("take no exponential time, and a bounded time in all", async () => {
    const long = `${"x".repeat(40)}!`;
    expect(await renderBoth(long, tracker("regexp", "(x+)+$"))).toBe(`<p>${long}</p>\n`);
    const budget = new StepBudget(RENDER_STEPS_MAX);
    const line = `${"x".repeat(500)}\n\n`;
    const options = { tracker: tracker("regexp", "(x*y|x)"), resolve: knowAll };
    const html = await render(line.repeat(1000), options, budget);
    expect(html).toContain("Shown as plain text");
    expect(budget.isExhausted).toBe(true);
  });
});

describe("URLs of this server", () => {
  it.each([
    [`${REPO_URL}/issues/12`, 'class="ref-issue" rel="nofollow">#12</a>'],
    [`${REPO_URL}/pulls/12#issuecomment-3`, ">#12 (comment)</a>"],
    [`${REPO_URL}/pulls/12?entry=3#issuecomment-3`, ">#12 (comment)</a>"],
    [`${ROOT_URL}/o/r/issues/12`, ">o/r#12</a>"],
    [
      `${REPO_URL}/commit/0123456789abcdef`,
      'class="commit" rel="nofollow"><code>0123456789</code>',
    ],
    [
      `${REPO_URL}/compare/0123456789ab...abcdef1`,
      'class="compare" rel="nofollow"><code class="nohighlight">0123456789...abcdef1</code>',
    ],
  ])("are shown in short form: %s", async (url, html) => {
    const rendered = await renderComment(`see ${url}`);
    expect(rendered).toContain(`<a href="${url}"`);
    expect(rendered).toContain(html);
  });

  it("keep a given link text, and are not shortened for other servers", async () => {
    expect(await renderComment(`[all](${REPO_URL}/issues/12)`)).toContain(">all</a>");
    const other = "https://other.example/o/r/issues/12";
    expect(await renderComment(other)).toContain(`>${other}</a>`);
  });
});
