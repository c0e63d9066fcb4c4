import { expect, it } from "vitest";

import type { GitHubBehaviour } from "../../../../support/forges/github.ts";
import type { GiteaBehaviour } from "../../../../support/forges/gitea.ts";
import { importGitea } from "../../../../support/forges/import-gitea.ts";
import { importGitHub } from "../../../../support/forges/import-github.ts";

type Json = Record<string, unknown>;
type Followed = Pick<
  Awaited<ReturnType<typeof importGitea>>,
  "row" | "get" | "list" | "sync" | "remote" | "oids"
> & {
  sample: { issues: Json[]; labels: Json[]; comments: Json[]; releases: Json[] };
  listRequests: () => Promise<{ path: string; status: number }[]>;
  change: (behaviour: GiteaBehaviour & GitHubBehaviour) => Promise<unknown>;
};

const MIRROR = {
  mirror: true,
  mirror_interval: "8h",
  mirror_parts: ["labels", "milestones", "issues", "pulls", "releases"],
};

const seconds = (at: number): string => new Date(at).toISOString().replace(/\.\d+/, "");
let changeCount = 0;
/**
 * Something as it is after a change, each in a second of its own: forges keep times to the second.
 */
const changed = (item: Json | undefined, more: Json): Json => ({
  ...item,
  updated_at: seconds(Date.now() + ++changeCount * 1000),
  ...more,
});

const replace = (items: readonly Json[], key: string, item: Json): Json[] =>
  items.map((each) => (each[key] === item[key] ? item : each));

const FORGES: [string, number, () => Promise<Followed>][] = [
  ["Gitea", 12, () => importGitea({}, undefined, MIRROR)],
  // Its lists know no time, so that all pages are read.
  ["Gogs", 22, () => importGitea({ isGogs: true }, undefined, MIRROR)],
  ["GitHub", 11, () => importGitHub({}, MIRROR)],
];

/** Synchronizes, and returns what the forge was asked. */
async function syncAt({ sync, listRequests, change }: Followed, project: Json) {
  await change({ project });
  expect(await sync()).toMatchObject({ state: "done", lastError: "" });
  return listRequests();
}

it.each(FORGES)(
  "a mirror of %s follows what changes, by few requests where nothing did",
  async (forge, idleMax, follow) => {
    const at = await follow();
    expect(at.row).toMatchObject({ state: "done", lastError: "" });
    const { sample, get, list } = at;
    const first = sample.issues.find(({ number }) => number === 1) as Json;
    const label = sample.labels[0] as Json;
    const before = await list("/issues?state=all&type=all");

    // Nothing changed.
    const idle = await syncAt(at, {});
    expect(idle.length).toBeLessThanOrEqual(idleMax);
    expect(await list("/issues?state=all&type=all")).toEqual(before);

    // An issue is added, another one edited, closed and relabelled, a comment is edited, a release
    // added, a label renamed.
    const comment = changed(sample.comments[0], { body: "Edited there" });
    const edited = changed(first, {
      title: "Renamed there",
      state: "closed",
      closed_at: seconds(Date.now()),
      labels: [label],
    });
    const added = changed(first, { id: 990_001, number: 901, title: "Added there", labels: [] });
    const release = {
      ...sample.releases[0],
      id: 990_002,
      tag_name: "v9",
      name: "Nine",
      assets: [],
    };
    const now = {
      labels: replace(sample.labels, "id", { ...label, name: "renamed", color: "123456" }),
      issues: [...replace(sample.issues, "id", edited), added],
      comments: replace(sample.comments, "id", comment),
      releases: [...sample.releases, release],
    };
    await syncAt(at, now);

    expect(await get("/issues/1")).toMatchObject({
      title: "Renamed there",
      state: "closed",
      labels: [{ name: "renamed", color: "123456" }],
    });
    expect(await get("/issues/901")).toMatchObject({ title: "Added there", labels: [] });
    const comments = await get("/issues/1/comments");
    expect(comments.map(({ body }: Json) => body)).toContain("Edited there");
    expect(await get("/releases/tags/v9")).toMatchObject({ name: "Nine" });
    expect(await list("/issues?state=all&type=all")).toHaveLength(before.length + 1);

    // What is deleted there stays here, and a deleted label leaves the issues that change.
    const reopened = changed(first, {
      title: "Renamed there",
      state: "open",
      closed_at: null,
      labels: [],
    });
    await syncAt(at, {
      ...now,
      labels: sample.labels.slice(1),
      issues: replace(sample.issues, "id", reopened),
      comments: sample.comments.slice(1),
    });
    expect(await get("/issues/1")).toMatchObject({ state: "open", labels: [] });
    expect((await get("/issues/1/comments")).length).toBe(comments.length);
    expect((await get("/issues/901")).title).toBe("Added there");
    expect((await list("/labels")).map(({ name }) => name)).toContain("renamed");

    // Nothing is announced as if people here had done it, and the record does not call it a
    // migration.
    expect((await get("")).migration).toBeUndefined();
    expect([forge, (await get("/migration")).state]).toEqual([forge, "done"]);
  },
  120_000,
);

it.each(FORGES.filter(([forge]) => forge !== "Gogs"))(
  "a mirror of %s follows a merge",
  async (forge, _, follow) => {
    const at = await follow();
    const number = forge === "GitHub" ? 5 : 2;
    expect(await at.get(`/pulls/${number}`)).toMatchObject({ merged: false, state: "open" });
    const closed_at = seconds(Date.now());
    const merge = { merged_at: closed_at, merged_by: null, merge_commit_sha: at.oids.merge };
    const { issues, pulls } = at.sample as unknown as {
      issues: Json[];
      pulls: Json[] & Record<number, Json>;
    };
    const closed = { state: "closed", closed_at };
    await syncAt(
      at,
      forge === "GitHub"
        ? {
            issues: issues.map((each) =>
              each["number"] === number ? changed(each, closed) : each,
            ),
            pulls: Object.assign({}, pulls, { [number]: { ...pulls[number], ...merge } }),
          }
        : {
            pulls: pulls.map((each) =>
              each["number"] === number
                ? changed(each, { ...closed, ...merge, merged: true })
                : each,
            ),
          },
    );
    expect(await at.get(`/pulls/${number}`)).toMatchObject({
      merged: true,
      state: "closed",
      merged_at: closed_at,
      merge_commit_sha: at.oids.merge,
    });
  },
  120_000,
);
