import { expect, it } from "vitest";

import type { GitHubBehaviour } from "../../../../support/forges/github.ts";
import type { Json } from "../../../../support/forges/github-project.ts";
import { importGitHub } from "../../../../support/forges/import-github.ts";
import { pick, readBack } from "../../../../support/forges/import-sample.ts";

type Named = Json | null | undefined;
/** The name of who wrote something, as GitHub has it for accounts that are gone. */
const nameOf = (user: Named): string => (user?.["login"] as string | undefined) ?? "ghost";

const byName = (one: Json, other: Json): number =>
  String(one["name"]) < String(other["name"]) ? -1 : 1;

it("takes a project of GitHub over, field by field", async () => {
  const { row, get, list, sample, ada, oids } = await importGitHub();
  expect(row).toMatchObject({ state: "done", lastError: "", stage: "finish" });
  const author = (user: Named) =>
    nameOf(user) === "ada"
      ? { user: { login: ada.name }, original_author: "", original_author_id: 0 }
      : {
          user: { id: -1 },
          original_author: nameOf(user),
          original_author_id: nameOf(user) === "ghost" ? 0 : user?.["id"],
        };

  expect(await get("")).toMatchObject({
    description: "An app 🚀",
    website: "https://app.example/",
    topics: ["forge", "workers"],
    default_branch: "main",
    open_issues_count: sample.issues.filter(
      (each) => each["state"] === "open" && !each["pull_request"],
    ).length,
    open_pr_counter: 3,
    release_counter: 2,
  });
  expect((await list("/labels")).map(pick("name", "color", "description", "exclusive"))).toEqual(
    expect.arrayContaining(
      sample.labels.map(({ name, color, description }) => ({
        name,
        color: String(color).toLowerCase(),
        description: description ?? "",
        exclusive: false,
      })),
    ),
  );
  const milestones = await list("/milestones?state=all");
  expect(milestones).toHaveLength(sample.milestones.length);
  for (const each of sample.milestones) {
    expect(milestones).toContainEqual(
      expect.objectContaining({
        title: each["title"],
        description: each["description"] ?? "",
        state: each["state"],
        due_on: each["due_on"],
        closed_at: each["closed_at"],
        created_at: each["created_at"],
      }),
    );
  }

  const issues = await list("/issues?state=all&type=all&sort=oldest");
  expect(issues).toHaveLength(sample.issues.length);
  for (const each of sample.issues) {
    const found = issues.find(({ number }) => number === each["number"]);
    const isDraft = each["draft"] === true && !String(each["title"]).startsWith("WIP:");
    expect(found).toMatchObject({
      title: `${isDraft ? "WIP: " : ""}${String(each["title"])}`,
      body: each["body"] ?? "",
      state: each["state"],
      is_locked: each["locked"],
      ...author(each["user"] as Named),
      comments: each["comments"],
      created_at: each["created_at"],
      updated_at: each["updated_at"],
      closed_at: each["closed_at"],
    });
    expect(found.labels.map(pick("name"))).toEqual(
      (each["labels"] as Json[]).map(pick("name")).toSorted(byName),
    );
    expect(found.milestone?.title).toBe((each["milestone"] as Named)?.["title"]);
    // Who has no account here is no assignee.
    expect((found.assignees ?? []).map(pick("login"))).toEqual(
      (each["assignees"] as Json[]).flatMap(({ login }) =>
        login === "ada" ? [{ login: ada.name }] : [],
      ),
    );
  }

  const comments = [...(await list("/issues/1/comments")), ...(await list("/issues/5/comments"))];
  expect(comments).toMatchObject(
    sample.comments.map((each) => ({
      body: each["body"],
      ...author(each["user"] as Named),
      created_at: each["created_at"],
      updated_at: each["updated_at"],
    })),
  );
  // A reaction is an account's: those of others are lost.
  const reactions = await get("/issues/1/reactions");
  expect(reactions.map(pick("content"))).toEqual(
    (sample.reactions["issues/1"] ?? [])
      .filter(({ user }) => nameOf(user as Named) === "ada")
      .map(pick("content")),
  );
  expect(await get("/issues/3/reactions")).toEqual([]);
  expect(await get(`/issues/comments/${comments[0].id}/reactions`)).toMatchObject([
    { user: { login: ada.name }, content: "heart" },
  ]);

  expect(await get("/pulls/5")).toMatchObject({
    merged: false,
    head: { ref: "feature", sha: oids.feature },
    base: { ref: "main", sha: oids.merge },
    merge_base: oids.base,
    mergeable: true,
    changed_files: 1,
  });
  expect(await get("/pulls/6")).toMatchObject({
    merged: true,
    merged_at: sample.pulls[6]?.["merged_at"],
    merged_by: { login: ada.name },
    merge_commit_sha: oids.merge,
    head: { label: "Brian-K:main", ref: "refs/pull/6/head", sha: oids.fix },
  });
  expect(await get("/pulls/7")).toMatchObject({ merged: false, head: { sha: oids.fix } });
  expect(await get("/pulls/10")).toMatchObject({ merged: true, merged_by: null });

  const reviews = await list("/pulls/5/reviews");
  const submitted = (sample.reviews[5] ?? []).filter(({ state }) => state !== "PENDING");
  const states: Record<string, string> = {
    COMMENTED: "COMMENT",
    DISMISSED: "APPROVED",
    APPROVED: "APPROVED",
    CHANGES_REQUESTED: "REQUEST_CHANGES",
  };
  const answered = reviews.filter(({ state }) => state !== "REQUEST_REVIEW");
  // A comment from before there were reviews has one of its own.
  expect(answered.map(pick("state", "body", "dismissed", "submitted_at", "commit_id"))).toEqual([
    {
      state: "COMMENT",
      body: "",
      dismissed: false,
      submitted_at: "2024-01-05T13:00:00Z",
      commit_id: oids.base,
    },
    ...submitted.map((each) => ({
      state: states[String(each["state"])],
      body: each["body"],
      dismissed: each["state"] === "DISMISSED",
      submitted_at: each["submitted_at"],
      commit_id: each["commit_id"] ?? "",
    })),
  ]);
  // The request to ada, who has an account here; the bot has none.
  expect(reviews.filter(({ state }) => state === "REQUEST_REVIEW")).toMatchObject([
    { user: { login: ada.name } },
  ]);
  expect(row.notes).toContain(
    "Review of #5 by the team core was asked for: teams are not taken over.",
  );
  const onCode = [];
  for (const { id } of answered) onCode.push(...(await get(`/pulls/5/reviews/${id}/comments`)));
  const visible = (sample.reviewComments[5] ?? []).filter(({ id }) => id !== 4006);
  expect(onCode).toHaveLength(visible.length);
  for (const each of visible) {
    const found = onCode.find(({ body }) => body === each["body"]);
    const isPlaced = each["line"] !== null && each["subject_type"] === "line";
    const isOld = each["side"] === "LEFT";
    expect(found).toMatchObject({
      path: each["path"],
      diff_hunk: each["diff_hunk"],
      created_at: each["created_at"],
      // The field's shape of these comments has no original author.
      user: nameOf(each["user"] as Named) === "ada" ? { login: ada.name } : { id: -1 },
      position: isPlaced && !isOld ? each["line"] : 0,
      original_position: isPlaced && isOld ? each["line"] : 0,
    });
  }
  const root = onCode.find(({ body }) => body === "On code 4001");
  expect(onCode.find(({ body }) => body === "On code 4005")).toMatchObject({
    in_reply_to: root.id,
  });

  const releases = await list("/releases");
  expect(releases).toHaveLength(3);
  for (const each of sample.releases) {
    const found = releases.find(({ tag_name }) => tag_name === each["tag_name"]);
    expect(found).toMatchObject({
      name: each["name"] ?? "",
      body: each["body"] ?? "",
      draft: each["draft"],
      prerelease: each["prerelease"],
      target_commitish: each["target_commitish"],
    });
    const files = (each["assets"] as Json[]).filter(({ state }) => state === "uploaded");
    expect(found.assets.map(pick("name", "size", "download_count"))).toEqual(
      files.map(pick("name", "size", "download_count")).toSorted(byName),
    );
  }
});

it.each<[string, GitHubBehaviour]>([
  ["503", { failEvery: 10, fault: { status: 503 } }],
  ["429", { failEvery: 10, fault: { status: 429, headers: { "Retry-After": "1" } } }],
])("takes the same where every tenth answer of GitHub is %s", async (_, behaviour) => {
  const failing = await importGitHub(behaviour);
  expect(failing.row).toMatchObject({ state: "done" });
  expect(failing.faultCount).toBeGreaterThan(3);
  expect(await readBack(failing, 5)).toEqual(await readBack(await importGitHub(), 5));
});
