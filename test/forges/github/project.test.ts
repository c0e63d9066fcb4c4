import { describe, expect, it } from "vitest";

import { openSample, outgoing, readAll } from "../../support/forges/github-reader.ts";

describe("readProject", () => {
  it("reads what the repository is", async () => {
    const { reader, url } = await openSample();
    expect(await reader.readProject()).toEqual({
      description: "An app 🚀",
      website: "https://app.example/",
      topics: ["forge", "workers"],
      defaultBranch: "main",
      isPrivate: false,
      isArchived: true,
      cloneUrl: `${url}.git`,
      htmlUrl: url,
      tracksIssues: true,
      takesPulls: true,
    });
  });

  it("reads empty fields, and that there are no pull requests", async () => {
    const { reader: whole } = await openSample();
    const { cloneUrl, htmlUrl } = await whole.readProject();
    const bare = {
      description: null,
      homepage: null,
      private: true,
      archived: false,
      clone_url: cloneUrl,
      html_url: htmlUrl,
      has_issues: false,
      has_pull_requests: false,
    };
    const { reader } = await openSample({ behaviour: { answers: { "": bare } } });
    expect(await reader.readProject()).toMatchObject({
      description: "",
      website: "",
      topics: [],
      defaultBranch: "",
      isPrivate: true,
      tracksIssues: false,
      takesPulls: false,
    });
  });

  it("follows the redirect of a repository that was renamed, with the token", async () => {
    const { reader, requests } = await openSample({
      name: "was-app",
      password: "t0ken",
      behaviour: { token: "t0ken" },
    });
    expect(await reader.readProject()).toMatchObject({ defaultBranch: "main" });
    expect(await readAll(reader, "labels")).toHaveLength(4);
    expect((await requests()).map(({ status }) => status)).toEqual([301, 200, 301, 200]);
  });
});

describe("labels", () => {
  it("have neither scopes nor an archive", async () => {
    const { reader } = await openSample();
    const plain = { isExclusive: false, isArchived: false };
    expect(await readAll(reader, "labels")).toEqual([
      {
        foreignId: "501",
        name: "bug",
        color: "d73a4a",
        description: "Something isn't working",
        ...plain,
      },
      { foreignId: "502", name: "good first issue", color: "7057ff", description: "", ...plain },
      {
        foreignId: "503",
        name: "area/ui",
        color: "0E8A16",
        description: "A slash makes no scope at GitHub",
        ...plain,
      },
      { foreignId: "504", name: "später ⏰", color: "fbca04", description: "", ...plain },
    ]);
  });
});

describe("milestones", () => {
  it("are read open and closed, with and without a deadline", async () => {
    const { reader } = await openSample();
    const createdAt = Date.UTC(2024, 0, 1, 12);
    const updatedAt = Date.UTC(2024, 0, 2, 12);
    expect(await readAll(reader, "milestones")).toEqual([
      {
        foreignId: "602",
        title: "0.9",
        description: "",
        deadlineAt: Date.UTC(2024, 0, 9, 8),
        isClosed: true,
        closedAt: Date.UTC(2024, 0, 9, 12),
        createdAt,
        updatedAt,
      },
      {
        foreignId: "601",
        title: "1.0 – “ready”",
        description: "All of it",
        deadlineAt: Date.UTC(2024, 5, 30, 7),
        isClosed: false,
        closedAt: null,
        createdAt,
        updatedAt,
      },
      {
        foreignId: "603",
        title: "Some day",
        description: "",
        deadlineAt: null,
        isClosed: false,
        closedAt: null,
        createdAt,
        updatedAt,
      },
    ]);
  });
});

describe("releases", () => {
  it("are read with drafts and assets, and without what is left of uploads that broke off", async () => {
    const { reader, url } = await openSample();
    const assets = `${new URL(url).origin}/api/v3/repos${new URL(url).pathname}/releases/assets`;
    const common = { target: "main", body: "", isDraft: false, isPrerelease: false, assets: [] };
    const ada = { id: 1001, name: "ada" };
    expect(await readAll(reader, "releases")).toEqual([
      {
        ...common,
        foreignId: "703",
        tagName: "v2.0",
        title: "Next",
        isDraft: true,
        publisher: ada,
        createdAt: Date.UTC(2024, 0, 16, 12),
      },
      {
        ...common,
        foreignId: "702",
        tagName: "v1.1-rc1",
        title: "",
        isPrerelease: true,
        publisher: { id: 0, name: "ghost" },
        createdAt: Date.UTC(2024, 0, 14, 12),
      },
      {
        ...common,
        foreignId: "701",
        tagName: "v1.0",
        title: "One",
        body: "First\n\n- ünïcode",
        publisher: ada,
        createdAt: Date.UTC(2024, 0, 14, 12),
        assets: [
          {
            foreignId: "801",
            name: "app.txt",
            sizeBytes: 6,
            downloadCount: 3,
            createdAt: Date.UTC(2024, 0, 15, 12),
            url: `${assets}/801`,
          },
          {
            foreignId: "802",
            name: "Größe 1.bin",
            sizeBytes: 7,
            downloadCount: 3,
            createdAt: Date.UTC(2024, 0, 15, 12),
            url: `${assets}/802`,
          },
        ],
      },
    ]);
  });
});

describe("headersFor", () => {
  // The host of files refuses a request that has credentials of another one.
  it("lets an asset of a private repository be downloaded, by way of another host", async () => {
    const { reader, requests } = await openSample({
      password: "t0ken",
      behaviour: { token: "t0ken" },
    });
    const releases = await readAll(reader, "releases");
    const url = releases.flatMap(({ assets }) => assets)[0]?.url ?? "";
    const limits = { timeoutMs: 10_000, bodyBytesMax: 1000, redirectsMax: 3 };
    const outcome = await outgoing.fetchGuarded(url, { headers: reader.headersFor(url) }, limits);
    expect(outcome).toMatchObject({ kind: "answered", status: 200 });
    expect("body" in outcome && new TextDecoder().decode(outcome.body)).toBe("an app");
    expect((await requests()).at(-1)).toMatchObject({
      status: 302,
      authorization: "Bearer t0ken",
      accept: "application/octet-stream",
    });
  });

  it.each([
    "https://elsewhere.example/api/v3/repos/o/r/releases/assets/1",
    "http://127.0.0.1:1/api/v3/repos/o/r/releases/assets/1",
    "no address",
  ])("gives nothing to %s", async (url) => {
    const { reader } = await openSample({ password: "t0ken" });
    expect(reader.headersFor(url)).toEqual({});
  });

  it("gives nothing to pages of the server besides its API", async () => {
    const { reader, url } = await openSample({ password: "t0ken" });
    expect(reader.headersFor(url)).toEqual({});
    expect(reader.headersFor(`${new URL(url).origin}/api/v3x/`)).toEqual({});
  });
});
