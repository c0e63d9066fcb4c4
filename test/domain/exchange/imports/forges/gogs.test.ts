import { expect, it } from "vitest";

import { HERE, type Json } from "../../../../support/forges/gitea-sample.ts";
import { importGitea } from "../../../../support/forges/import-gitea.ts";
import { pick, readBack } from "../../../../support/forges/import-sample.ts";
import type { GiteaBehaviour } from "../../../../support/forges/gitea.ts";

const importGogs = (behaviour: GiteaBehaviour = {}) => importGitea({ ...behaviour, isGogs: true });

const byName = (one: Json, other: Json): number =>
  String(one["name"]) < String(other["name"]) ? -1 : 1;
const timeOf = (time: unknown): number | null =>
  time === null ? null : Date.parse(time as string);

it("takes a project of Gogs over, field by field", async () => {
  const { row, get, list, sample, ada, rootUrl, requests } = await importGogs();
  expect(row).toMatchObject({ state: "done", lastError: "", stage: "finish" });
  // Of the paths that Gitea has and Gogs lacks none is asked for.
  expect(requests.filter(({ status }) => status !== 200)).toEqual([]);
  const author = (item: Json) => {
    const login = (item["user"] as Json)["login"] as string;
    return login === "ada"
      ? { user: { login: ada.name }, original_author: "" }
      : { user: { id: -1 }, original_author: login };
  };
  const bodyOf = (item: Json): string =>
    (item["body"] as string)
      .replaceAll(/(?<=[("])\/attachments\//g, `${rootUrl}/attachments/`)
      .replaceAll(HERE, rootUrl)
      .replaceAll("\0", "");
  expect(await get("")).toMatchObject({
    description: "Tools for gardeners 🌱",
    website: "https://garden.example",
    default_branch: "main",
    open_pr_counter: 0,
    open_issues_count: sample.issues.filter(({ state }) => state === "open").length,
  });

  expect((await list("/labels")).map(pick("name", "color")).toSorted(byName)).toEqual(
    sample.labels.map(pick("name", "color")).toSorted(byName),
  );
  const milestones = await list("/milestones?state=all");
  expect(milestones).toHaveLength(sample.milestones.length);
  for (const each of sample.milestones) {
    const found = milestones.find(({ title }) => title === each["title"]);
    const same = pick("description", "state", "closed_at");
    expect(same(found)).toEqual(same(each));
    expect(timeOf(found.due_on)).toBe(timeOf(each["due_on"]));
  }

  const issues = await list("/issues?state=all&type=all");
  expect(issues).toHaveLength(sample.issues.length);
  for (const each of sample.issues) {
    const found = issues.find(({ number }) => number === each["number"]);
    expect(found).toMatchObject({
      title: each["title"],
      body: bodyOf(each),
      ...pick("state", "created_at", "updated_at")(each),
      ...author(each),
      // The API lacks them.
      is_locked: false,
      due_date: null,
      closed_at: each["state"] === "closed" ? each["updated_at"] : null,
    });
    const own = new Set(sample.labels.map(({ id }) => id));
    expect(found.labels.map(pick("name")).toSorted(byName)).toEqual(
      ((each["labels"] ?? []) as Json[])
        .filter(({ id }) => own.has(id))
        .map(pick("name"))
        .toSorted(byName),
    );
    expect(found.milestone?.title).toBe((each["milestone"] as Json | null)?.["title"]);
    const assignee = each["assignee"] as Json | null | undefined;
    expect((found.assignees ?? []).map(pick("login"))).toEqual(
      assignee?.["login"] === "ada" ? [{ login: ada.name }] : [],
    );
  }

  const onIssues = sample.comments.filter(
    ({ issue_url, body }) => /\/issues\/\d+$/.test(String(issue_url)) && body !== "",
  );
  const comments = await list("/issues/comments");
  // Those of pull requests can't be had, and the entries without text are events.
  expect(comments).toHaveLength(onIssues.length);
  for (const each of onIssues) {
    expect(comments).toContainEqual(
      expect.objectContaining({
        body: bodyOf(each),
        original_author: author(each).original_author,
        ...pick("created_at", "updated_at")(each),
      }),
    );
  }
  expect(await get("/issues/1/reactions")).toEqual([]);

  const releases = await list("/releases");
  // Gogs shows drafts to everybody. Here they are shown to those who may write.
  expect(releases).toHaveLength(sample.releases.length);
  for (const each of sample.releases) {
    const found = releases.find(({ tag_name }) => tag_name === each["tag_name"]);
    expect(found).toMatchObject({
      ...pick("name", "draft", "prerelease", "target_commitish")(each),
      body: bodyOf(each),
      assets: [],
    });
  }
});

it("sends Gogs the token as it wants it, and keeps it to itself", async () => {
  const token = `gogs-${crypto.randomUUID()}`;
  const { row, requests, get } = await importGogs({ token });
  expect(row).toMatchObject({ state: "done", sealedPassword: null });
  expect(new Set(requests.map(({ authorization }) => authorization))).toEqual(
    new Set([`token ${token}`]),
  );
  expect(JSON.stringify([row, await get(""), await get("/migration")])).not.toContain(token);
});

it.each<[string, GiteaBehaviour]>([
  ["503", { failEvery: 10, fault: { status: 503 } }],
  ["429", { failEvery: 10, fault: { status: 429, headers: { "Retry-After": "1" } } }],
])(
  "takes the same where every tenth answer of Gogs is %s",
  async (_, behaviour) => {
    const failing = await importGogs(behaviour);
    expect(failing.row).toMatchObject({ state: "done" });
    expect(failing.requests.some(({ status }) => status === behaviour.fault?.status)).toBe(true);
    const shown = async (imported: typeof failing) =>
      JSON.parse(
        JSON.stringify(await readBack(imported, 1)).replaceAll(imported.rootUrl, HERE),
      ) as unknown;
    expect(await shown(failing)).toEqual(await shown(await importGogs()));
  },
  120_000,
);
