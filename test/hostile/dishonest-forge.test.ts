import { eq } from "drizzle-orm";
import { expect, it } from "vitest";

import {
  attachments,
  issues,
  labels,
  milestones,
  releases,
  users,
} from "../../src/db/schema/index.ts";
import { db } from "../support/db.ts";
import type { GiteaBehaviour, RawAnswer } from "../support/forges/gitea.ts";
import { type Json, makeGiteaSample } from "../support/forges/gitea-sample.ts";
import { importGitea } from "../support/forges/import-gitea.ts";
import { make } from "../support/make.ts";
import { sampleOf } from "../support/sample.ts";

const { issues: sampleIssues, labels: sampleLabels, releases: sampleReleases } = makeGiteaSample();
const first = sampleIssues[0] as Json;
const label = sampleLabels[0] as Json;
const release = sampleReleases.find(({ draft }) => draft === false) as Json;

const LIST = { "X-Total-Count": "1" };
const json = (value: unknown, headers: Record<string, string> = LIST): RawAnswer => ({
  headers,
  body: JSON.stringify(value),
});
const issuesOf = (...items: Json[]): GiteaBehaviour => ({
  raw: { issues: json(items, { "X-Total-Count": String(items.length) }) },
});

/**
 * Requests of an import that is refused: those of its project, labels, milestones, and the first of
 * the list.
 */
const REQUESTS_MAX = 60;

/** Each ends the import at once, with a reason that an administrator can read. */
const REFUSED: [string, GiteaBehaviour, RegExp][] = [
  ["a body without end", { raw: { labels: { isEndless: true } } }, /labels is too large\.$/],
  [
    "JSON of a million arrays in each other",
    { raw: { labels: { repeated: { text: "[", count: 1_000_000 } } } },
    /is no JSON|not what its API documents/,
  ],
  [
    "an item with a million arrays in each other",
    {
      raw: {
        labels: {
          body: `[{"id":1,"name":"a","color":7,"x":`,
          repeated: { text: "[", count: 500_000, end: `${"]".repeat(500_000)}}]` },
        },
      },
    },
    /is no JSON|not what its API documents/,
  ],
  ["a page of HTML", { raw: { labels: { body: "<!DOCTYPE html><title>Sign in" } } }, /is no JSON/],
  ["an object for a list", { raw: { labels: json({}) } }, /labels is not what its API documents/],
  ["numbers for texts", { raw: { labels: json([{ ...label, name: 7 }]) } }, /0\.name\.$/],
  ["a number above all of int64", issuesOf({ ...first, number: 2 ** 63 }), /0\.number\.$/],
  ["a number that leaves none for here", issuesOf({ ...first, number: 2 ** 53 - 1 }), /number\.$/],
  ["a number below zero", issuesOf({ ...first, number: -1 }), /0\.number\.$/],
  ["an id that is no number", issuesOf({ ...first, id: 1.5 }), /0\.id\.$/],
  ["a time that is none", issuesOf({ ...first, created_at: "NaN" }), /0\.created_at\.$/],
  ["a text above all limits", issuesOf({ ...first, body: "x".repeat(2_000_001) }), /0\.body\.$/],
  [
    "100,000 items on a page",
    {
      raw: {
        labels: {
          body: JSON.stringify([label]).slice(0, -1),
          repeated: { text: `,${JSON.stringify(label)}`, count: 100_000 / 2, end: "]" },
        },
      },
    },
    /labels is (?:not what its API documents|too large)/,
  ],
  [
    "a total of which there is nothing",
    { raw: { issues: json([], { "X-Total-Count": "999999999999" }) } },
    /issues has fewer items than it states\.$/,
  ],
  [
    "a redirect to the own network",
    { raw: { labels: { status: 302, headers: { Location: "http://10.0.0.1/labels" } } } },
    /^You can not import from disallowed hosts\.$/,
  ],
  [
    "a redirect to a file",
    { raw: { labels: { status: 302, headers: { Location: "file:///etc/passwd" } } } },
    /disallowed hosts|labels was answered with 302/,
  ],
  [
    "a redirect to itself",
    { raw: { labels: { status: 307, headers: { Location: "?again" } } } },
    /labels|redirect|disallowed/,
  ],
];

it.each(sampleOf(REFUSED, 6, "answers of a forge that lies"))(
  "is refused where it answers with %s",
  async (_, behaviour, reason) => {
    const token = `secret-${crypto.randomUUID()}`;
    const { row, requests, get } = await importGitea({ ...behaviour, token });
    expect(row).toMatchObject({ state: "failed", lastError: expect.stringMatching(reason) });
    expect(row.lastError).not.toContain("internal error");
    expect(row.lastError.length).toBeLessThan(400);
    expect(JSON.stringify([await get(""), await get("/migration")])).not.toContain(token);
    expect(await db.select().from(issues).where(eq(issues.repoId, row.repoId))).toEqual([]);
    expect(await db.select().from(labels).where(eq(labels.repoId, row.repoId))).toHaveLength(
      row.stage === "labels" ? 0 : sampleLabels.length + 1,
    );
    expect(requests.length).toBeLessThan(REQUESTS_MAX);
  },
  60_000,
);

/** Takes a project over of which some answers are hostile, and which comes nevertheless. */
async function takeOver(raw: Record<string, RawAnswer>) {
  const imported = await importGitea({
    raw: {
      pulls: json([], { "X-Total-Count": "0" }),
      "issues/comments": json([], { "X-Total-Count": "0" }),
      releases: json([], { "X-Total-Count": "0" }),
      ...raw,
    },
  });
  expect(imported.row).toMatchObject({ state: "done", lastError: "" });
  return imported;
}

it("takes names without the characters that change what is shown", async () => {
  const name = "a\u001b[31m\u0000\u202eb\r\nc";
  const { row, get } = await takeOver({
    labels: json([{ ...label, name }]),
    milestones: json([{ id: 1, title: name, description: "\0", state: "open" }]),
    issues: json([{ ...first, title: name, body: "x\u0000y", ref: name }]),
    releases: json([{ ...release, name, assets: [] }]),
  });
  const [ofLabels, ofMilestones, ofReleases] = await Promise.all(
    [labels, milestones, releases].map((table) =>
      db.select().from(table).where(eq(table.repoId, row.repoId)),
    ),
  );
  expect(ofLabels).toContainEqual(expect.objectContaining({ name: "a[31mbc" }));
  expect(ofMilestones).toMatchObject([{ title: "a[31mbc" }]);
  expect(ofReleases).toMatchObject([{ title: "a[31mbc" }]);
  expect(await get("/issues/1")).toMatchObject({ title: "a[31mbc", body: "xy" });
});

it("takes names that end amid a character of two halves", async () => {
  const { row } = await takeOver({
    labels: json([{ ...label, name: `${"x".repeat(49)}🌱` }]),
    issues: json([first]),
  });
  expect(await db.select().from(labels).where(eq(labels.repoId, row.repoId))).toContainEqual(
    expect.objectContaining({ name: `${"x".repeat(49)}\uFFFD` }),
  );
});

it("takes the first of two issues with a number, and of two items with an id the last", async () => {
  const { row, list } = await takeOver({
    issues: json(
      [
        { ...first, id: 9001, title: "Second" },
        { ...first, id: 9000, title: "First" },
        { ...first, id: 9002, number: 99, title: "Once" },
        { ...first, id: 9002, number: 99, title: "Once" },
      ].toReversed(),
      { "X-Total-Count": "4" },
    ),
  });
  const titles = new Set((await list("/issues?state=all")).map(({ title }) => title));
  expect(titles).toEqual(new Set(["Once", "Second"]));
  expect(row.notes).toContain("a second issue 1 was left out");
});

it("takes times of the year 1 and of the year 275760 as the first and the last there are", async () => {
  const { get } = await takeOver({
    issues: json([
      {
        ...first,
        created_at: "0001-01-01T00:00:00Z",
        updated_at: "+275760-09-13T00:00:00Z",
        due_date: "0001-01-01T00:00:00Z",
      },
    ]),
  });
  expect(await get("/issues/1")).toMatchObject({
    created_at: "1970-01-01T00:00:00Z",
    updated_at: "9999-12-31T23:59:59Z",
    due_date: null,
  });
});

// SECURITY: nobody's name elsewhere makes them somebody here.
it.each(sampleOf(["root", "constructor", "__proto__", "toString", "Ghost"], 2, "names elsewhere"))(
  "gives the words of its %s to no account here",
  async (login) => {
    const local = /^[a-z]+$/.test(login) ? await localAccount(login) : undefined;
    const { get } = await takeOver({
      issues: json([
        { ...first, user: { id: local?.id ?? 77, login }, assignees: [], body: "Words" },
      ]),
    });
    expect(await get("/issues/1")).toMatchObject({
      user: { id: -1 },
      original_author: login,
      original_author_id: local?.id ?? 77,
      body: "Words",
    });
  },
);

async function localAccount(name: string) {
  const [present] = await db.select().from(users).where(eq(users.lowerName, name));
  return present ?? (await make.user({ name, lowerName: name }).catch(() => undefined));
}

const ADDRESSES: [string, string][] = [
  ["the own network", "http://10.0.0.1/secret"],
  ["the cloud's metadata", "http://169.254.169.254/latest/meta-data"],
  ["a file of the server", "file:///etc/passwd"],
  ["no address", "not an address"],
  ["another protocol", "gopher://127.0.0.1:70/x"],
];

it.each(sampleOf(ADDRESSES, 2, "addresses of files"))(
  "leaves out a file of a release that leads to %s",
  async (_, url) => {
    const asset = { id: 1, name: "a.txt", size: 3, created_at: "2024-01-01T00:00:00Z" };
    const { row, list } = await takeOver({
      issues: json([first]),
      releases: json([{ ...release, assets: [{ ...asset, browser_download_url: url }] }]),
    });
    expect(await list("/releases")).toMatchObject([{ tag_name: release["tag_name"], assets: [] }]);
    expect(await db.select().from(attachments).where(eq(attachments.repoId, row.repoId))).toEqual(
      [],
    );
    expect(row.notes).toEqual(
      expect.arrayContaining([expect.stringMatching(/^the file a\.txt was left out: /)]),
    );
  },
);
