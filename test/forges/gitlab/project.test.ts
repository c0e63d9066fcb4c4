import { describe, expect, it } from "vitest";

import { openSample, origin, readAll, requestsOf } from "../../support/forges/gitlab-reader.ts";
import { SAMPLE_PATH } from "../../support/forges/gitlab-sample.ts";

describe("a project of GitLab", () => {
  it("is read with its settings", async () => {
    expect(await openSample().reader.readProject()).toEqual({
      description: "Digs 🌱",
      website: "",
      topics: ["garden", "tools"],
      defaultBranch: "main",
      isPrivate: true,
      isArchived: true,
      cloneUrl: `${origin}/${SAMPLE_PATH}.git`,
      htmlUrl: `${origin}/${SAMPLE_PATH}`,
      tracksIssues: true,
      takesPulls: true,
      numbering: "45.11",
    });
  });

  it("is read by a token of OAuth too", async () => {
    const project = await openSample({ username: "oauth2" }).reader.readProject();
    expect(project.isPrivate).toBe(true);
  });

  it("is found by a path that it had before", async () => {
    const project = await openSample({ path: "garden/old-spade" }).reader.readProject();
    expect(project.htmlUrl).toBe(`${origin}/${SAMPLE_PATH}`);
  });

  it("has no merge requests if they are disabled", async () => {
    const { reader, token } = openSample({ path: "garden/open" });
    expect(await reader.readProject()).toMatchObject({
      description: "",
      defaultBranch: "",
      isPrivate: false,
      isArchived: false,
      tracksIssues: true,
      takesPulls: false,
      numbering: "45.0",
    });
    const asked = await requestsOf(token);
    expect(asked.filter((path) => path.includes("merge_requests"))).toEqual([]);
  });

  // Without a token GitLab hides the settings, so that a refusal is the only sign.
  it("has no merge requests if strangers are refused", async () => {
    const { reader } = openSample({ path: "garden/open", password: "" });
    expect(await reader.readProject()).toMatchObject({
      isPrivate: false,
      isArchived: false,
      tracksIssues: true,
      takesPulls: false,
    });
  });
});

describe("labels", () => {
  it("are read with those of groups, and scopes are exclusive", async () => {
    const label = (foreignId: string, name: string, color: string, isExclusive = false) => ({
      foreignId,
      name,
      color,
      description: "",
      isExclusive,
      isArchived: false,
    });
    expect(await readAll("labels")).toEqual([
      { ...label("1", "bug", "d9534f"), description: "It does not work" },
      label("2", "état/à faire", "428bca", true),
      label("3", "état/fait", "5cb85c", true),
      label("4", "kind/ui/web", "ffffff", true),
      label("5", "team/core", "000000"),
      { ...label("6", "wontfix", "cccccc"), isArchived: true },
    ]);
  });
});

describe("milestones", () => {
  it("are read with those of groups", async () => {
    expect(await readAll("milestones")).toEqual([
      {
        foreignId: "31",
        title: "1.0",
        description: "What #47 began",
        deadlineAt: Date.UTC(2024, 5, 30, 23, 59, 59),
        isClosed: false,
        closedAt: null,
        createdAt: Date.UTC(2024, 0, 2),
        updatedAt: Date.UTC(2024, 0, 3),
      },
      {
        foreignId: "32",
        title: "0.9",
        description: "",
        deadlineAt: null,
        isClosed: true,
        closedAt: Date.UTC(2023, 11, 24, 17),
        createdAt: Date.UTC(2023, 0, 2),
        updatedAt: Date.UTC(2023, 11, 24, 17),
      },
      expect.objectContaining({ foreignId: "33", title: "Spring" }),
    ]);
  });

  it("are limited to those that changed since a time", async () => {
    const since = Date.UTC(2024, 0, 4);
    const found = await readAll("milestones", { includesIssues: true, includesPulls: true, since });
    expect(found.map(({ title }) => title)).toEqual(["Spring"]);
  });
});

describe("releases", () => {
  it("are read oldest first, with their files", async () => {
    const releases = await readAll("releases");
    expect(releases.map(({ tagName }) => tagName)).toEqual(["v0.9", "v1.0", "v2.0"]);
    const createdAt = Date.UTC(2024, 4, 1);
    const asset = { sizeBytes: null, downloadCount: 0, createdAt };
    expect(releases[1]).toEqual({
      foreignId: "v1.0",
      tagName: "v1.0",
      target: "c".repeat(40),
      title: "One 🎉",
      body: "Has #47",
      isDraft: false,
      isPrerelease: false,
      publisher: { id: 101, name: "ada" },
      createdAt,
      assets: [
        {
          ...asset,
          foreignId: "61",
          name: "spade.bin",
          url: `${origin}/api/v4/projects/${encodeURIComponent(SAMPLE_PATH)}/packages/generic/spade/1.0/spade.bin`,
        },
        {
          ...asset,
          foreignId: "62",
          name: "elsewhere.txt",
          url: "https://downloads.example/elsewhere.txt",
        },
        {
          ...asset,
          foreignId: "63",
          name: "other.txt",
          url: `${origin}/api/v4/projects/43/packages/generic/x/1/other.txt`,
        },
      ],
    });
  });

  it("may lack a title, a tag and an author", async () => {
    const [first] = await readAll("releases");
    expect(first).toMatchObject({
      title: "v0.9",
      target: "",
      body: "",
      publisher: { id: 0, name: "ghost" },
      createdAt: Date.UTC(2023, 4, 1),
    });
  });

  it("have the time of their making while they are announced only", async () => {
    const releases = await readAll("releases");
    expect(releases[2]).toMatchObject({ tagName: "v2.0", createdAt: Date.UTC(2024, 5, 1) });
  });

  it("give the token to their own files alone", async () => {
    const { reader, token } = openSample();
    const releases = await readAll("releases");
    const urls = releases.flatMap(({ assets }) => assets.map(({ url }) => url));
    expect(urls.map((url) => reader.headersFor(url))).toEqual([{ "PRIVATE-TOKEN": token }, {}, {}]);
  });
});
