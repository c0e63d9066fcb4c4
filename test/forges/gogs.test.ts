import { describe, expect, it } from "vitest";

import { ALL, NOW, openGiteaSample, readAll, readPages } from "../support/forges/gitea-reader.ts";
import { makeGiteaSample } from "../support/forges/gitea-sample.ts";

const at = (day: number, hour = 12): number => Date.UTC(2024, 0, day, hour);
const ada = { id: 1, name: "ada" };
const brian = { id: 2, name: "Brian.K" };
const ghost = { id: 0, name: "Ghost" };

const open = () => openGiteaSample({ behaviour: { isGogs: true } });

/** The sample's issues in the order of Gogs: open ones, then closed ones, each newest first. */
const NUMBERS = makeGiteaSample()
  .issues.toReversed()
  .toSorted((a, b) => Number(a["state"] === "closed") - Number(b["state"] === "closed"))
  .map(({ number }) => number);

describe("openGogs", () => {
  it("reads the project", async () => {
    const { reader, url } = await open();
    expect(reader.service).toBe("gogs");
    expect(await reader.readProject()).toEqual({
      description: "Tools for gardeners 🌱",
      website: "https://garden.example",
      topics: [],
      defaultBranch: "main",
      isPrivate: false,
      isArchived: false,
      cloneUrl: `${url}.git`,
      htmlUrl: url,
      tracksIssues: true,
      takesPulls: true,
    });
  });

  it("reads labels and milestones, as far as the API has them", async () => {
    const { reader } = await open();
    const [bug, ...labels] = await readAll(reader, "labels");
    expect(bug).toEqual({
      foreignId: "101",
      name: "bug",
      color: "d73a4a",
      description: "",
      isExclusive: false,
      isArchived: false,
    });
    expect(labels).toHaveLength(3);
    expect(await readAll(reader, "milestones")).toEqual([
      {
        foreignId: "402",
        title: "0.9",
        description: "",
        deadlineAt: at(9),
        isClosed: true,
        closedAt: at(9),
        createdAt: at(9),
        updatedAt: at(9),
      },
      expect.objectContaining({ title: "1.0 – “ready”", isClosed: false, createdAt: NOW }),
    ]);
  });

  it("reads issues of both states, page by page", async () => {
    const { reader } = await open();
    const pages = await readPages(reader, "issues");
    expect(pages).toHaveLength(9);
    const issues = pages.flatMap(({ items }) => items);
    expect(issues.map(({ number }) => number)).toEqual(NUMBERS);
    expect(issues.at(-2)).toEqual({
      kind: "issue",
      foreignId: "201",
      number: 1,
      poster: ada,
      title: "The “first” issue 🚀",
      body: expect.stringContaining("Broken since #3, says @brian."),
      ref: "",
      labelIds: ["101", "103", "151"],
      milestoneId: "401",
      assignees: [brian],
      reactions: [],
      isLocked: false,
      isClosed: false,
      closedAt: null,
      deadlineAt: null,
      createdAt: at(1),
      updatedAt: at(1, 18),
    });
    expect(issues.at(-1)).toMatchObject({
      number: 3,
      poster: ghost,
      isClosed: true,
      closedAt: at(3, 18),
    });
  });

  it("reads the comments of issues, without the events among them", async () => {
    const { reader, requests, rootUrl } = await open();
    const comments = await readAll(reader, "comments");
    const sample = makeGiteaSample();
    const texts = sample.comments.filter(
      ({ issue_url, body }) => /\/issues\/\d+$/.test(String(issue_url)) && body !== "",
    );
    expect(comments.map(({ foreignId }) => foreignId).toSorted()).toEqual(
      texts.map(({ id }) => String(id)).toSorted(),
    );
    expect(comments.filter(({ number }) => number === 1)).toEqual([
      {
        kind: "comment",
        foreignId: "301",
        number: 1,
        poster: brian,
        body: expect.stringContaining(`See [the log](${rootUrl}/attachments/`),
        reactions: [],
        createdAt: at(10, 13),
        updatedAt: at(11, 13),
      },
      expect.objectContaining({ foreignId: "303", poster: ghost }),
    ]);
    // Issues without comments need no request.
    const asked = (await requests()).filter(({ path }) => path.includes("/comments"));
    expect(asked).toHaveLength(
      new Set(sample.comments.map(({ issue_url }) => issue_url).filter((url) => url !== "")).size,
    );
    expect(await readAll(reader, "comments", { ...ALL, includesIssues: false })).toEqual([]);
  });

  it("reads what has changed", async () => {
    const { reader } = await open();
    const filter = { ...ALL, since: at(26) };
    const issues = await readAll(reader, "issues", filter);
    expect(issues.map(({ number }) => number)).toEqual([80, 79, 78, 77, 76, 75, 74]);
    const comments = await readAll(reader, "comments", filter);
    // At most those of these issues.
    expect(comments.every(({ number, updatedAt }) => number >= 74 && updatedAt >= at(26))).toBe(
      true,
    );
  });

  it("reads releases, oldest first", async () => {
    const { reader } = await open();
    const releases = await readAll(reader, "releases");
    expect(releases.map(({ tagName, isDraft }) => [tagName, isDraft])).toEqual([
      ["v0.9", false],
      ["v1.0", false],
      ["v1.1", true],
    ]);
    expect(releases[1]).toMatchObject({ title: "Eins ①", publisher: ada, createdAt: at(12) });
  });

  it("has no pull requests and reviews", async () => {
    const { reader, requests } = await open();
    expect(await readAll(reader, "pulls")).toEqual([]);
    expect(await readAll(reader, "reviews")).toEqual([]);
    expect(await requests()).toEqual([]);
  });

  it("sends a token in Gogs' scheme, and reports refusals", async () => {
    const behaviour = { isGogs: true, token: "t" };
    const { reader, requests } = await openGiteaSample({ behaviour, password: "t" });
    await reader.readProject();
    expect((await requests())[0]?.authorization).toBe("token t");
    const wrong = await openGiteaSample({ behaviour, password: "x" });
    await expect(wrong.reader.readProject()).rejects.toMatchObject({ kind: "unauthorized" });
  });
});
