import { describe, expect, it } from "vitest";

import { ALL, openGiteaSample, readAll } from "../../support/forges/gitea-reader.ts";

const at = (day: number, hour = 12): number => Date.UTC(2024, 0, day, hour);
const ada = { id: 1, name: "ada" };
const brian = { id: 2, name: "Brian.K" };
const ghost = { id: 0, name: "Ghost" };
const FILE_1 = "6a0c6b24-1f0e-4d3a-9d1e-1b7f4d1f0a01";
const FILE_2 = "6a0c6b24-1f0e-4d3a-9d1e-1b7f4d1f0a02";
const FILE_3 = "6a0c6b24-1f0e-4d3a-9d1e-1b7f4d1f0a03";
const [BASE, FEATURE, FIX, MERGE] = ["b", "f", "1", "e"].map((digit) => digit.repeat(40));

describe("readProject", () => {
  it("reads the project", async () => {
    const { reader, url } = await openGiteaSample();
    expect(await reader.readProject()).toEqual({
      description: "Tools for gardeners 🌱",
      website: "https://garden.example",
      topics: ["garden", "tools"],
      defaultBranch: "main",
      isPrivate: false,
      isArchived: false,
      cloneUrl: `${url}.git`,
      htmlUrl: url,
      tracksIssues: true,
      takesPulls: true,
    });
    expect(reader.service).toBe("gitea");
  });

  // Git would be fetched with the credentials from there.
  it("clones from the address that was given, if the server believes to be another", async () => {
    const behaviour = { rootUrl: "http://localhost:3000" };
    const { reader, url } = await openGiteaSample({ behaviour });
    expect((await reader.readProject()).cloneUrl).toBe(`${url}.git`);
  });

  it("follows a project to its new name", async () => {
    const { reader, rootUrl } = await openGiteaSample({ name: "was-app" });
    expect((await reader.readProject()).htmlUrl).toBe(`${rootUrl}/gardeners/app`);
  });
});

describe("labels", () => {
  it("are those of the repository, then those of its organization", async () => {
    const { reader } = await openGiteaSample();
    const labels = await readAll(reader, "labels");
    expect(labels.map(({ foreignId, name }) => [foreignId, name])).toEqual([
      ["101", "bug"],
      ["102", "kind/old"],
      ["103", "prio/high"],
      ["104", "später ⏰"],
      ["151", "organization-wide"],
    ]);
    expect(labels.slice(0, 3)).toEqual([
      {
        foreignId: "101",
        name: "bug",
        color: "d73a4a",
        description: "It is broken",
        isExclusive: false,
        isArchived: false,
      },
      expect.objectContaining({ isExclusive: false, isArchived: true }),
      expect.objectContaining({ isExclusive: true, isArchived: false }),
    ]);
  });

  it("are those of the repository alone, if its owner is a user", async () => {
    const { reader } = await openGiteaSample({ behaviour: { isUser: true } });
    expect(await readAll(reader, "labels")).toHaveLength(4);
  });
});

describe("milestones", () => {
  it("are open and closed ones", async () => {
    const { reader } = await openGiteaSample();
    expect(await readAll(reader, "milestones")).toEqual([
      {
        foreignId: "402",
        title: "0.9",
        description: "",
        deadlineAt: at(9),
        isClosed: true,
        closedAt: at(9),
        createdAt: at(1),
        updatedAt: at(2),
      },
      {
        foreignId: "401",
        title: "1.0 – “ready”",
        description: "All of it",
        deadlineAt: Date.UTC(2024, 5, 30, 21, 59, 59),
        isClosed: false,
        closedAt: null,
        createdAt: at(1),
        updatedAt: at(2),
      },
    ]);
  });
});

describe("issues", () => {
  it("have all fields of the forge", async () => {
    const { reader, rootUrl } = await openGiteaSample();
    const issues = await readAll(reader, "issues");
    const [first, third, fifth] = issues;
    expect({ ...first, reactions: first?.reactions.slice(0, 3) }).toEqual({
      kind: "issue",
      foreignId: "issue/201",
      number: 1,
      poster: ada,
      title: "The “first” issue 🚀",
      body: `Broken since #3, says @brian.\n\n![screen](${rootUrl}/attachments/${FILE_1})\n<img src="${rootUrl}/attachments/${FILE_1}">`,
      ref: "refs/heads/feature",
      labelIds: ["101", "103", "151"],
      milestoneId: "401",
      assignees: [brian, ada],
      reactions: [
        { user: ada, content: "+1" },
        { user: ghost, content: "heart" },
        { user: { id: 1000, name: "u0" }, content: "eyes" },
      ],
      isLocked: false,
      isClosed: false,
      closedAt: null,
      deadlineAt: Date.UTC(2024, 2, 1, 23, 59, 59),
      createdAt: at(1),
      updatedAt: at(1, 18),
    });
    // More than one page, without the one that is unknown here.
    expect(first?.reactions).toHaveLength(62);
    expect(third).toMatchObject({
      number: 3,
      poster: { id: 0, name: "linus" },
      ref: "refs/heads/stable",
      labelIds: ["104"],
      milestoneId: "402",
      assignees: [],
      reactions: [],
      isClosed: true,
      closedAt: at(8, 3),
    });
    expect(fifth).toMatchObject({ number: 5, poster: ghost, isLocked: true, body: "Nothing here" });
  });
});

describe("pulls", () => {
  it("have all fields of the forge", async () => {
    const { reader } = await openGiteaSample();
    const pulls = await readAll(reader, "pulls");
    expect(pulls.map(({ number }) => number)).toEqual([2, 4, 6, 7, 8, 9]);
    const [open, merged, gone, fork, draft, ghostly] = pulls;
    expect(open).toEqual({
      kind: "pull",
      foreignId: "pull/201",
      number: 2,
      poster: ada,
      title: "Add a feature",
      body: "Closes #1",
      ref: "",
      labelIds: ["101"],
      milestoneId: "401",
      assignees: [ada],
      reactions: [{ user: brian, content: "rocket" }],
      isLocked: false,
      isClosed: false,
      closedAt: null,
      deadlineAt: Date.UTC(2024, 2, 2, 23, 59, 59),
      createdAt: at(2),
      updatedAt: at(25),
      head: { branch: "feature", oid: FEATURE, repository: "gardeners/app" },
      base: { branch: "main", oid: BASE, repository: "gardeners/app" },
      headRef: "refs/pull/2/head",
      mergeBaseOid: BASE,
      allowMaintainerEdit: true,
      mergedAt: null,
      merger: null,
      mergeCommitOid: "",
    });
    expect(merged).toMatchObject({
      isClosed: true,
      closedAt: at(6),
      // Its branch is gone.
      head: { branch: "fix", oid: FIX, repository: "gardeners/app" },
      mergedAt: at(6),
      merger: brian,
      mergeCommitOid: MERGE,
    });
    expect(gone).toMatchObject({
      head: { branch: "patch-1", oid: FIX, repository: "" },
      isClosed: true,
      mergedAt: null,
      mergeBaseOid: "",
    });
    expect(fork).toMatchObject({
      title: "WIP: From a fork",
      head: { branch: "their/branch", repository: "Brian.K/app-fork" },
    });
    expect(draft?.title).toBe("WIP: Draft: other words");
    expect(ghostly).toMatchObject({ merger: ghost, mergedAt: at(9), isLocked: true });
  });
});

describe("comments", () => {
  it("are those of issues and pull requests, with all fields of the forge", async () => {
    const { reader, rootUrl } = await openGiteaSample();
    const comments = await readAll(reader, "comments");
    expect(comments).toHaveLength(60);
    expect(comments.slice(0, 4)).toEqual([
      {
        kind: "comment",
        foreignId: "301",
        number: 1,
        poster: brian,
        body: `See [the log](${rootUrl}/attachments/${FILE_2}) and https://elsewhere.example/attachments/x`,
        reactions: [{ user: ada, content: "hooray" }],
        createdAt: at(10, 13),
        updatedAt: at(11, 13),
      },
      expect.objectContaining({ number: 2, poster: ada, body: "Looks good, @ada" }),
      expect.objectContaining({ number: 1, poster: { id: 0, name: "linus" } }),
      expect.objectContaining({ number: 5, poster: ghost, body: "" }),
    ]);
  });

  it("are those of the included parts", async () => {
    const { reader, requests } = await openGiteaSample();
    const ofPulls = await readAll(reader, "comments", {
      includesIssues: false,
      includesPulls: true,
    });
    expect(new Set(ofPulls.map(({ number }) => number))).toEqual(new Set([2, 4]));
    expect((await requests()).filter(({ path }) => path.includes("comments/301"))).toEqual([]);
    const ofIssues = await readAll(reader, "comments", {
      includesIssues: true,
      includesPulls: false,
    });
    expect(ofIssues.length + ofPulls.length).toBe(60);
    expect(new Set(ofIssues.map(({ number }) => number))).not.toContain(4);
  });

  it("are refused if they don't say what they are about", async () => {
    const user = { id: 1, login: "ada" };
    const times = { created_at: "2024-01-01T00:00:00Z", updated_at: "2024-01-01T00:00:00Z" };
    const answers = { "issues/comments": [{ id: 1, user, body: "", ...times }] };
    const { reader } = await openGiteaSample({ behaviour: { answers } });
    const failed = reader.readPage("comments", undefined, ALL);
    await expect(failed).rejects.toMatchObject({ kind: "protocol" });
  });
});

describe("reviews", () => {
  it("have all fields of the forge, and their comments in conversations", async () => {
    const { reader, rootUrl } = await openGiteaSample({
      behaviour: { token: "secret" },
      password: "secret",
    });
    const reviews = await readAll(reader, "reviews");
    const ofFirst = reviews.filter(({ number }) => number === 2);
    // Without the one that is not submitted, and the request to a team.
    expect(ofFirst.map(({ foreignId, state }) => [foreignId, state])).toEqual([
      ["701", "request_changes"],
      ["703", "approved"],
      ["704", "comment"],
      ["705", "request_review"],
    ]);
    const [rejection, approval, remark, request] = ofFirst;
    const comment = {
      poster: brian,
      path: "src/main.c",
      line: 2,
      isOnOldSide: false,
      commitOid: FEATURE,
      hunk: "@@ -1,2 +1,3 @@\n a\n-b\n+c",
      isResolved: false,
      reactions: [],
      createdAt: at(13),
      updatedAt: at(14),
    };
    expect(rejection).toEqual({
      foreignId: "701",
      number: 2,
      reviewer: brian,
      state: "request_changes",
      isDismissed: true,
      isOfficial: false,
      body: `No: ![why](${rootUrl}/attachments/${FILE_1})`,
      commitOid: FEATURE,
      createdAt: at(13, 5),
      comments: [
        {
          ...comment,
          foreignId: "501",
          answersId: "",
          body: "On code 501",
          isResolved: true,
          reactions: [{ user: ada, content: "laugh" }],
        },
        {
          ...comment,
          foreignId: "502",
          answersId: "501",
          poster: ada,
          body: "An answer",
          isResolved: true,
        },
        {
          ...comment,
          foreignId: "503",
          answersId: "",
          body: "On code 503",
          path: "ä b.txt",
          line: 7,
        },
        { ...comment, foreignId: "504", answersId: "", body: "On code 504", isOnOldSide: true },
      ],
    });
    expect(approval).toMatchObject({ isOfficial: true, isDismissed: false, body: "Yes" });
    expect(remark).toMatchObject({ reviewer: ghost, comments: [{ poster: ghost }] });
    expect(request).toMatchObject({ reviewer: ada, comments: [] });
    expect(reviews.filter(({ number }) => number === 4)).toHaveLength(52);
    expect(reviews.at(-1)).toMatchObject({ number: 9, reviewer: ghost });
  });

  it("are none without pull requests", async () => {
    const { reader, requests } = await openGiteaSample();
    expect(
      await readAll(reader, "reviews", { includesIssues: true, includesPulls: false }),
    ).toEqual([]);
    expect(await requests()).toEqual([]);
  });
});

describe("releases", () => {
  it("are read oldest first, with their assets", async () => {
    const { reader, rootUrl } = await openGiteaSample({
      behaviour: { password: "battery" },
      username: "ada",
      password: "battery",
    });
    const [old, full, draft] = await readAll(reader, "releases");
    expect(old).toMatchObject({
      tagName: "v0.9",
      isPrerelease: true,
      publisher: ghost,
      assets: [],
    });
    expect(full).toEqual({
      foreignId: "602",
      tagName: "v1.0",
      target: BASE,
      title: "Eins ①",
      body: `Notes of #1 [file](${rootUrl}/attachments/${FILE_3})`,
      isDraft: false,
      isPrerelease: false,
      publisher: ada,
      createdAt: at(12),
      assets: [
        {
          foreignId: "801",
          name: "app.tar.gz",
          sizeBytes: 9,
          downloadCount: 1,
          createdAt: at(16),
          url: `${rootUrl}/attachments/${FILE_2}`,
        },
        expect.objectContaining({ foreignId: "802", name: "prüf summe.txt", sizeBytes: 5 }),
      ],
    });
    expect(draft).toMatchObject({ tagName: "v1.1", isDraft: true });
  });
});

describe("since", () => {
  const since = (time: number) => ({ ...ALL, since: time });

  it("leaves out what has not changed", async () => {
    const { reader } = await openGiteaSample();
    const issues = await readAll(reader, "issues", since(at(26)));
    expect(issues.map(({ number }) => number)).toEqual([74, 75, 76, 77, 78, 79, 80]);
    const pulls = await readAll(reader, "pulls", since(at(25)));
    expect(pulls.map(({ number }) => number)).toEqual([7, 2]);
    const comments = await readAll(reader, "comments", since(at(26)));
    expect(comments.map(({ foreignId }) => foreignId)).toEqual([
      "360",
      "361",
      "362",
      "363",
      "364",
      "365",
    ]);
    expect(await readAll(reader, "pulls", since(at(27)))).toEqual([]);
    const reviews = await readAll(reader, "reviews", since(at(25)));
    expect(new Set(reviews.map(({ number }) => number))).toEqual(new Set([2]));
  });

  // The forge keeps seconds.
  it("includes the second of the time", async () => {
    const { reader } = await openGiteaSample();
    expect(await readAll(reader, "pulls", since(at(26) + 999))).toHaveLength(1);
    expect(await readAll(reader, "pulls", since(at(26) + 1000))).toEqual([]);
    expect(await readAll(reader, "issues", since(at(26) + 999))).toHaveLength(7);
  });
});
