import { expect, it } from "vitest";

import type { Json } from "../../../../support/forges/gitlab-data.ts";
import type { Faults } from "../../../../support/forges/gitlab.ts";
import { SAMPLE_ISSUE_MAX } from "../../../../support/forges/gitlab-sample.ts";
import { importGitLab } from "../../../../support/forges/import-gitlab.ts";
import { pick, readBack } from "../../../../support/forges/import-sample.ts";

const seconds = (time: unknown): string | null =>
  time === null ? null : new Date(time as string).toISOString().replace(/\.\d+/, "");
const nameOf = (user: unknown): string =>
  (user as { username: string } | null)?.username ?? "ghost";

it("takes a project of GitLab over, field by field", async () => {
  const { row, get, list, sample, ada, oids } = await importGitLab();
  expect(row).toMatchObject({
    state: "done",
    lastError: "",
    stage: "finish",
    sealedPassword: null,
  });
  const author = (user: unknown) =>
    nameOf(user) === "ada"
      ? { user: { login: ada.name }, original_author: "" }
      : { user: { id: -1 }, original_author: nameOf(user) };
  expect(await get("")).toMatchObject({
    description: "Digs 🌱",
    topics: ["garden", "tools"],
    default_branch: "main",
    release_counter: 3,
  });

  const labels = await list("/labels");
  expect(labels.map(({ name }: Json) => name)).toEqual(
    expect.arrayContaining(["bug", "team/core", "wontfix"]),
  );
  expect(labels).toHaveLength(sample.labels.length);
  const milestones = await list("/milestones?state=all");
  expect(milestones).toHaveLength(sample.milestones.length);
  for (const each of sample.milestones) {
    expect(milestones).toContainEqual(
      expect.objectContaining({
        title: each["title"],
        state: each["state"] === "closed" ? "closed" : "open",
        created_at: seconds(each["created_at"]),
      }),
    );
  }

  const issues = await list("/issues?state=all&type=issues&sort=oldest");
  // A confidential issue stays there: everybody would read it here.
  const visible = sample.issues.filter((each) => each["confidential"] !== true);
  expect(issues.map(({ number }: Json) => number).toSorted(byNumber)).toEqual(
    visible.map(({ iid }) => iid).toSorted(byNumber),
  );
  for (const each of visible) {
    const found = issues.find(({ number }: Json) => number === each.iid);
    expect(found).toMatchObject({
      title: each["title"],
      state: each["state"] === "opened" ? "open" : "closed",
      is_locked: each["discussion_locked"] === true,
      ...author(each["author"]),
      created_at: seconds(each["created_at"]),
      closed_at: seconds(each["closed_at"]),
    });
    expect(found.labels).toHaveLength(each["labels"].length);
    expect(found.milestone?.title).toBe((each["milestone"] as Json | null)?.["title"]);
  }
  // References to merge requests have the numbers here.
  expect((await get("/issues/1")).body).toMatch(
    /^Grüße 👋 from @bo\.li, see #2, #49 and #49, not other\/group!4\./,
  );
  expect(await list("/issues/1/comments")).toMatchObject([
    { body: "As #50 says: `!5`", original_author: "bo.li" },
    { body: "Note 904", original_author: "ghost", updated_at: "2024-04-01T00:00:00Z" },
  ]);
  const many = await list("/issues/3/comments");
  expect(many.map(({ body }: Json) => body)).toEqual(
    (sample.notes[3] ?? []).map(({ body }) => body),
  );
  // Ada's only one is a word that there is none for here.
  expect(await get("/issues/1/reactions")).toEqual([]);

  const pulls = await list("/pulls?state=all");
  expect(pulls).toHaveLength(sample.mergeRequests.length);
  for (const each of sample.mergeRequests) {
    const found = pulls.find(({ number }: Json) => number === SAMPLE_ISSUE_MAX + each.iid);
    expect(found).toMatchObject({
      merged: each["state"] === "merged",
      state: ["opened", "locked"].includes(String(each["state"])) ? "open" : "closed",
      created_at: seconds(each["created_at"]),
      merged_at: seconds(each["merged_at"]),
      base: { ref: "main" },
    });
    // The field's shape of a pull request has no original author; that of its issue has.
    expect(await get(`/issues/${found.number}`)).toMatchObject(author(each["author"]));
  }
  expect(await get("/pulls/46")).toMatchObject({
    body: "Closes #1, follows #56",
    merge_commit_sha: oids.merge,
    // Its branch is gone there too.
    head: { ref: "refs/pull/46/head", sha: oids.feature },
    merged_by: { login: ada.name },
  });
  expect(await get("/pulls/49")).toMatchObject({ head: { label: "çelik:branch-4" } });
  expect(await get("/issues/46/reactions")).toMatchObject([
    { user: { login: ada.name }, content: "rocket" },
  ]);

  const reviews = await list("/pulls/46/reviews");
  const onCode = [];
  for (const { id } of reviews) onCode.push(...(await get(`/pulls/46/reviews/${id}/comments`)));
  expect(onCode.map(pick("body", "path", "position", "original_position"))).toEqual([
    { body: "Like #47?", path: "src/b.ts", position: 7, original_position: 0 },
    { body: "Note 2002", path: "src/b.ts", position: 7, original_position: 0 },
    { body: "Note 2004", path: "src/a.ts", position: 0, original_position: 3 },
    { body: "Note 2005", path: "src/b.ts", position: 11, original_position: 0 },
    { body: "Note 2006", path: "src/b.ts", position: 0, original_position: 0 },
    { body: "Note 2007", path: "src/b.ts", position: 0, original_position: 0 },
  ]);
  // An answer is in another review than what it answers.
  expect(onCode[1]).toMatchObject({ in_reply_to: onCode[0].id });
  expect(onCode[1].pull_request_review_id).not.toBe(onCode[0].pull_request_review_id);
  expect(onCode[0].resolver).toMatchObject({ login: ada.name });
  expect(reviews.filter(({ state }: Json) => state === "APPROVED")).toMatchObject([
    { user: { login: ada.name }, submitted_at: "2024-02-09T00:00:00Z" },
  ]);
  // 23 conversations of two, over pages of the reader.
  const long = await list("/pulls/49/reviews");
  const conversations: Json[] = [];
  for (const { id } of long) conversations.push(...(await get(`/pulls/49/reviews/${id}/comments`)));
  expect(conversations).toHaveLength(46);
  for (let at = 0; at < 46; at += 2) {
    const [first, answer] = [3000 + at, 3001 + at].map((id) =>
      conversations.find(({ body }: Json) => body === `Note ${id}`),
    );
    expect(first).toBeDefined();
    expect(answer?.["in_reply_to"]).toBe(first?.["id"]);
  }

  const releases = await list("/releases");
  expect(releases.map(({ tag_name }: Json) => tag_name).toSorted(byText)).toEqual([
    "v0.9",
    "v1.0",
    "v2.0",
  ]);
  const one = releases.find(({ tag_name }: Json) => tag_name === "v1.0");
  expect(one).toMatchObject({ name: "One 🎉", body: "Has #47", draft: false });
  // What does not come keeps nothing else from coming.
  expect(row.notes).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^the file elsewhere\.txt was left out: /),
      expect.stringMatching(/^the file other\.txt was left out: .*404/),
    ]),
  );
  expect(one.assets.map(pick("name", "size"))).toEqual([{ name: "spade.bin", size: 7 }]);
});

const byNumber = (one: unknown, other: unknown): number => Number(one) - Number(other);
const byText = (one: unknown, other: unknown): number => (String(one) < String(other) ? -1 : 1);

it.each<[string, Faults]>([
  ["tenth answer is 503 or breaks off", { every: 10, answers: ["503", "break"] }],
  ["fiftieth answer is 429", { every: 50, answers: ["429"] }],
])("takes the same where every %s", async (_, faults) => {
  const failing = await importGitLab(faults);
  expect(failing.row).toMatchObject({ state: "done" });
  expect(await readBack(failing, 46)).toEqual(await readBack(await importGitLab(), 46));
});
