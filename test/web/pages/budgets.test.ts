import { beforeAll, describe, expect, it } from "vitest";

import { Browser } from "../../support/browser.ts";
import { visit } from "../../support/call.ts";
import { ALL_PAGES, makeSite, readerOf, type Site } from "../../support/doors/pages.ts";
import { fullScans } from "../../support/full-scans.ts";
import { doorsWith } from "../../support/service.ts";
import { logged } from "../../support/usage.ts";
import { watchedDatabase } from "../../support/watched-database.ts";

/** All statements that the service below sends to D1. */
const sent: string[] = [];
const listening = watchedDatabase({ onPrepare: (statement) => void sent.push(statement) });
const watched = doorsWith({}, { DB: listening });

/**
 * Round trips of what needs more than two of them: downloads are counted after the response, and
 * names of accounts by which the log is filtered are looked up.
 */
const ROUNDS: Readonly<Record<string, number>> = {
  "the audit log of the service": 3,
  "the page that asks for consent": 3,
  "the page that asks for consent to an agent": 3,
  // The rule, the packages of its format, their versions, and those that would go.
  "the preview of a cleanup rule": 5,
  "the preview of a cleanup rule of an organization": 5,
  // The pieces of the log, after the task that has it.
  "the page of a job": 3,
  "the rows of a log": 3,
  "the log of a job": 3,
  "a file": 3,
  "a file of a repository": 3,
  "a file of a release": 3,
  "a file of the latest release": 3,
};

let site: Site;
beforeAll(async () => {
  site = await makeSite();
});

describe("a page", () => {
  it.each(Object.entries(ALL_PAGES))("asks the database twice at most: %s", async (title, to) => {
    const own = readerOf(site, title);
    await own.get(to(site));
    const { line } = await logged(() => own.get(to(site)));
    expect(line.d1Rounds).toBeLessThanOrEqual(ROUNDS[title] ?? 2);
    const { line: anonymous } = await logged(() => visit("GET", to(site)));
    expect(anonymous.d1Rounds).toBeLessThanOrEqual(ROUNDS[title] ?? 2);
  });

  it.each(Object.entries(ALL_PAGES))("scans no growing table: %s", async (title, to) => {
    const reader = new Browser(watched);
    for (const [name, value] of readerOf(site, title).cookies) reader.cookies.set(name, value);
    sent.length = 0;
    await reader.get(to(site));
    await watched("GET", to(site));
    expect(await fullScans([...new Set(sent)])).toEqual([]);
  });
});
