import { expect, it } from "vitest";

import type { GiteaBehaviour } from "../../../../support/forges/gitea.ts";
import { HERE, type Json } from "../../../../support/forges/gitea-sample.ts";
import { importGitea } from "../../../../support/forges/import-gitea.ts";
import { pick, readBack } from "../../../../support/forges/import-sample.ts";

const byName = (one: Json, other: Json): number =>
  String(one["name"]) < String(other["name"]) ? -1 : 1;
const timeOf = (time: unknown): number | null =>
  time === null ? null : Date.parse(time as string);

it("takes a project of Gitea over, field by field", async () => {
  const { row, get, list, sample, ada, oids, rootUrl } = await importGitea();
  expect(row).toMatchObject({ state: "done", lastError: "", stage: "finish" });
  const author = (item: Json) => {
    const login = (item["original_author"] || (item["user"] as Json)["login"]) as string;
    return login === "ada"
      ? { user: { login: ada.name }, original_author: "" }
      : { user: { id: -1 }, original_author: login };
  };
  // Attached files stay there, so that their addresses are written in full.
  const bodyOf = (item: Json): string =>
    (item["body"] as string)
      .replaceAll(/(?<=[("])\/attachments\//g, `${rootUrl}/attachments/`)
      .replaceAll(HERE, rootUrl)
      .replaceAll("\0", "");
  expect(await get("")).toMatchObject({
    description: "Tools for gardeners 🌱",
    website: "https://garden.example",
    topics: sample.topics,
    default_branch: "main",
  });

  const fields = pick("name", "color", "description", "exclusive", "is_archived");
  expect((await list("/labels")).map(fields).toSorted(byName)).toEqual(
    [...sample.labels, ...sample.ownerLabels].map(fields).toSorted(byName),
  );
  const milestones = await list("/milestones?state=all");
  expect(milestones).toHaveLength(sample.milestones.length);
  for (const each of sample.milestones) {
    const found = milestones.find(({ title }) => title === each["title"]);
    const same = pick("description", "state", "created_at", "closed_at");
    expect(same(found)).toEqual(same(each));
    expect(timeOf(found.due_on)).toBe(timeOf(each["due_on"]));
  }

  const issues = await list("/issues?state=all&type=all");
  const threads = [...sample.issues, ...sample.pulls];
  expect(issues).toHaveLength(threads.length);
  for (const each of threads) {
    const found = issues.find(({ number }) => number === each["number"]);
    const isDraft = each["draft"] === true && !(each["title"] as string).startsWith("WIP:");
    expect(found).toMatchObject({
      title: `${isDraft ? "WIP: " : ""}${each["title"] as string}`,
      body: bodyOf(each),
      ...pick("state", "is_locked", "created_at", "updated_at", "closed_at")(each),
      ...author(each),
    });
    expect(timeOf(found.due_date)).toBe(timeOf(each["due_date"]));
    expect(found.labels.map(pick("name")).toSorted(byName)).toEqual(
      ((each["labels"] ?? []) as Json[]).map(pick("name")).toSorted(byName),
    );
    expect(found.milestone?.title).toBe((each["milestone"] as Json | null)?.["title"]);
    expect((found.assignees ?? []).map(pick("login"))).toEqual(
      ((each["assignees"] ?? []) as Json[]).flatMap(({ login }) =>
        login === "ada" ? [{ login: ada.name }] : [],
      ),
    );
  }

  const comments = await list("/issues/comments");
  expect(comments).toHaveLength(sample.comments.length);
  for (const each of sample.comments) {
    expect(comments).toContainEqual(
      expect.objectContaining({
        body: bodyOf(each),
        original_author: author(each).original_author,
        ...pick("created_at", "updated_at")(each),
      }),
    );
  }
  // A reaction is an account's: those of others are lost.
  expect((await get("/issues/1/reactions")).map(pick("content"))).toEqual([{ content: "+1" }]);

  expect(await get("/pulls/2")).toMatchObject({
    merged: false,
    head: { ref: "feature", sha: oids.feature },
    base: { ref: "main", sha: oids.merge },
    merge_base: oids.base,
  });
  expect(await get("/pulls/4")).toMatchObject({
    merged: true,
    merged_at: "2024-01-06T12:00:00Z",
    merge_commit_sha: oids.merge,
    head: { sha: oids.fix },
  });
  expect(await get("/pulls/6")).toMatchObject({ merged: false, head: { sha: oids.fix } });
  expect(await get("/pulls/7")).toMatchObject({
    draft: true,
    head: { label: "Brian.K:their/branch", sha: oids.feature },
  });

  const reviews = await list("/pulls/2/reviews");
  // Those that are not submitted are their author's, and teams are not taken over.
  const submitted = (sample.reviews[2] ?? []).filter(
    ({ state, user }) => state !== "PENDING" && user !== null,
  );
  const same = pick("state", "body", "dismissed", "submitted_at");
  expect(reviews.map(same).toSorted(byTime)).toEqual(
    submitted.map((each) => same({ ...each, body: bodyOf(each) })).toSorted(byTime),
  );
  expect(await list("/pulls/4/reviews")).toHaveLength(52);
  const onCode = [];
  for (const { id } of reviews) onCode.push(...(await get(`/pulls/2/reviews/${id}/comments`)));
  const visible = [...(sample.reviewComments[701] ?? []), ...(sample.reviewComments[704] ?? [])];
  expect(onCode).toHaveLength(visible.length);
  for (const each of visible) {
    const placed = pick("body", "path", "position", "original_position", "diff_hunk", "created_at");
    expect(placed(onCode.find(({ body }) => body === each["body"]))).toEqual(placed(each));
  }

  const releases = await list("/releases");
  // Drafts are visible to writers only.
  const published = sample.releases.filter(({ draft }) => draft !== true);
  expect(releases).toHaveLength(published.length);
  for (const each of published) {
    const found = releases.find(({ tag_name }) => tag_name === each["tag_name"]);
    expect(found).toMatchObject({
      ...pick("name", "draft", "prerelease", "target_commitish")(each),
      body: bodyOf(each),
    });
    const file = pick("name", "size", "download_count");
    expect(found.assets.map(file).toSorted(byName)).toEqual(
      ((each["assets"] ?? []) as Json[]).map(file).toSorted(byName),
    );
  }
});

const byTime = (one: Json, other: Json): number =>
  Date.parse(one["submitted_at"] as string) - Date.parse(other["submitted_at"] as string);

it.each<[string, GiteaBehaviour]>([
  ["503", { failEvery: 10, fault: { status: 503 } }],
  ["429", { failEvery: 10, fault: { status: 429, headers: { "Retry-After": "1" } } }],
])(
  "takes the same where every tenth answer of Gitea is %s",
  async (_, behaviour) => {
    const failing = await importGitea(behaviour);
    expect(failing.row).toMatchObject({ state: "done" });
    const shown = async (imported: typeof failing) =>
      // Addresses of attached files differ by the server's.
      JSON.parse(
        JSON.stringify(await readBack(imported, 2)).replaceAll(imported.rootUrl, HERE),
      ) as unknown;
    expect(await shown(failing)).toEqual(await shown(await importGitea()));
  },
  120_000,
);
