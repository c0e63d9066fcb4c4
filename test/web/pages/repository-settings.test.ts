import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import {
  branchProtections,
  collaborations,
  lfsLocks,
  lfsObjects,
  publicKeys,
  pushMirrors,
  repositories,
  repositoryTransfers,
  tagProtections,
} from "../../../src/db/schema/index.ts";
import { Browser } from "../../support/browser.ts";
import { formTokenOf } from "../../support/credentials.ts";
import { db } from "../../support/db.ts";
import { makeFiles } from "../../support/files.ts";
import { pngOf } from "../../support/images.ts";
import { makeSshKey } from "../../support/keys.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import {
  makePullMirror,
  makePushMirror,
  NOWHERE,
  pullMirrorOf,
} from "../../support/mirror-rows.ts";
import { makeRule, makeRuleset, makeTagRule } from "../../support/protections.ts";
import { storeRefs } from "../../support/push.ts";
import { rowsOfRepository } from "../../support/rows-of-repository.ts";

const BAD = `"><script>alert(1)</script>`;

let owner: TestUser;
let browser: Browser;
let token: string;
beforeAll(async () => {
  owner = await make.userWithPassword();
  browser = await Browser.signedIn(owner);
  token = formTokenOf((await browser.get("/user/settings/account")).body);
});

const pathOf = ({ owner: name, name: repo }: TestRepo, rest = "") =>
  `/${name}/${repo}/settings${rest}`;

const rowOf = async ({ id }: TestRepo) =>
  (await db.select().from(repositories).where(eq(repositories.id, id)))[0];

const send = (repo: TestRepo, rest: string, action: string, fields: Record<string, string> = {}) =>
  browser.post(pathOf(repo, rest), { _csrf: token, action, ...fields });

/** Sends a form that is taken. */
async function save(...sent: Parameters<typeof send>): Promise<string> {
  const { status, headers, body } = await send(...sent);
  expect(status, String(body)).toBe(303);
  return String(headers.get("location"));
}

/** Sends a form that is refused with a text, and writes nothing. */
async function expectRefused(text: string, ...sent: Parameters<typeof send>): Promise<string> {
  const before = await rowsOfRepository(sent[0].id);
  const { status, body } = await send(...sent);
  expect(String(body).toLowerCase()).toContain(text.toLowerCase());
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  expect(await rowsOfRepository(sent[0].id)).toEqual(before);
  return String(body);
}

const show = async (repo: TestRepo, rest = ""): Promise<string> => {
  const { status, body } = await browser.get(pathOf(repo, rest));
  expect(status).toBe(200);
  return String(body);
};

/** Stores branches and tags of one commit. */
async function storeNames(repo: TestRepo, refs: readonly string[]): Promise<void> {
  const { oid, pack } = makeFiles({ file: "text" });
  await storeRefs(
    repo,
    refs.map((ref) => ({ ref, oid })),
    pack,
  );
}

describe("the settings of a repository", () => {
  it("have a tab for those who administer it", async () => {
    const repo = await make.repo(owner);
    const reader = await Browser.signedIn(await make.userWithPassword());
    const tab = `href="${pathOf(repo)}"`;
    expect((await browser.get(`/${owner.name}/${repo.name}`)).body).toContain(tab);
    expect((await reader.get(`/${owner.name}/${repo.name}`)).body).not.toContain(tab);
  });

  it("change name, description, website, template and the default branch", async () => {
    const repo = await make.repo(owner);
    await storeNames(repo, ["refs/heads/main", "refs/heads/dev"]);
    const to = await save(repo, "", "update", {
      name: `${repo.name}-2`,
      description: "A text",
      website: "https://project.example",
      template: "on",
      default_branch: "dev",
    });
    expect(to).toBe(`/${owner.name}/${repo.name}-2/settings`);
    expect(await rowOf(repo)).toMatchObject({
      name: `${repo.name}-2`,
      description: "A text",
      website: "https://project.example",
      isTemplate: true,
      defaultBranch: "dev",
    });
  });

  it("keep what was typed where it is refused, and say why at the field", async () => {
    const repo = await make.repo(owner);
    const other = await make.repo(owner);
    await storeNames(repo, ["refs/heads/main"]);
    const typed = { name: repo.name, description: BAD };
    const page = await expectRefused("must be a URL with http or https", repo, "", "update", {
      ...typed,
      website: "javascript:alert(1)",
    });
    expect(page).toMatch(/id="website-fault"/);
    expect(page).not.toContain(BAD);
    await expectRefused("already exists", repo, "", "update", { ...typed, name: other.name });
    await expectRefused("must be a branch that exists", repo, "", "update", {
      ...typed,
      default_branch: "none",
    });
  });

  it("set topics", async () => {
    const repo = await make.repo(owner);
    await save(repo, "", "topics", { topics: "weaving, cloth" });
    expect((await rowOf(repo))?.topics.toSorted()).toEqual(["cloth", "weaving"]);
    await expectRefused("invalid", repo, "", "topics", { topics: "-not/valid-" });
  });

  it("switch units, of which one stays", async () => {
    const repo = await make.repo(owner);
    const fields = { has_code: "on", tracker: "external", wiki: "external", projects_mode: "repo" };
    const addresses = {
      "external_tracker.external_tracker_url": "https://tracker.example",
      "external_tracker.external_tracker_format": "https://tracker.example/{index}",
      "external_tracker.external_tracker_style": "numeric",
      "external_wiki.external_wiki_url": "https://wiki.example",
    };
    await save(repo, "", "units", { ...fields, ...addresses });
    expect(await rowOf(repo)).toMatchObject({
      hasCode: true,
      hasPullRequests: false,
      hasIssues: true,
      projectsMode: "repo",
      externalWikiUrl: "https://wiki.example",
      issueSettings: { external: { url: "https://tracker.example" } },
    });
    const none = { tracker: "off", wiki: "off", projects_mode: "all" };
    await expectRefused("at least one unit must stay enabled", repo, "", "units", none);
    await expectRefused("must be a URL with http or https", repo, "", "units", {
      ...fields,
      ...addresses,
      "external_tracker.external_tracker_url": "http://localhost",
    });
    await save(repo, "", "units", { ...none, tracker: "internal", enable_time_tracker: "on" });
    const row = await rowOf(repo);
    expect(row).toMatchObject({ hasCode: false, hasWiki: false });
    expect(row?.issueSettings).toEqual({
      enableTimeTracker: true,
      allowOnlyContributorsToTrackTime: false,
      enableIssueDependencies: false,
    });
  });

  it("choose how pull requests are merged", async () => {
    const repo = await make.repo(owner);
    await save(repo, "", "pulls", {
      allow_squash_merge: "on",
      default_merge_style: "squash",
      default_delete_branch_after_merge: "on",
    });
    expect((await rowOf(repo))?.pullSettings).toMatchObject({
      allowMergeCommits: false,
      allowSquashMerge: true,
      defaultMergeStyle: "squash",
      defaultDeleteBranchAfterMerge: true,
    });
    await expectRefused("is not allowed here", repo, "", "pulls", {
      allow_squash_merge: "on",
      default_merge_style: "rebase",
    });
  });

  it("take and remove an avatar", async () => {
    const repo = await make.repo(owner);
    const form = new FormData();
    form.append("_csrf", token);
    form.append("action", "avatar");
    form.append("image", new File([Buffer.from(pngOf(1, 1, repo.name), "base64")], "a.png"));
    expect((await browser.postForm(pathOf(repo), form)).status).toBe(303);
    expect((await rowOf(repo))?.avatarHash).not.toBe("");
    expect(await show(repo)).toContain("Remove avatar");
    await save(repo, "", "delete_avatar");
    expect((await rowOf(repo))?.avatarHash).toBe("");
  });

  it("refuse a file that is no image", async () => {
    const repo = await make.repo(owner);
    const form = new FormData();
    form.append("_csrf", token);
    form.append("action", "avatar");
    form.append("image", new File(["<svg/>"], "a.svg"));
    const { status, body } = await browser.postForm(pathOf(repo), form);
    expect(status).toBe(422);
    expect(body).toContain("must be a PNG, JPEG, GIF or WebP image");
    expect((await rowOf(repo))?.avatarHash).toBe("");
  });

  it("make it private and archive it", async () => {
    const repo = await make.repo(owner);
    await expectRefused("must be the name of the repository", repo, "", "visibility", {
      visibility: "private",
      repo_name: "other",
    });
    await save(repo, "", "visibility", { visibility: "private", repo_name: repo.name });
    expect(await rowOf(repo)).toMatchObject({ isPrivate: true });
    await save(repo, "", "archive");
    expect((await rowOf(repo))?.archivedAt).not.toBeNull();
    // A form that is sent twice has no second effect.
    await save(repo, "", "archive");
    await save(repo, "", "unarchive");
    expect((await rowOf(repo))?.archivedAt).toBeNull();
  });

  it("give it an end, change it, and keep it after all", async () => {
    const repo = await make.repo(owner);
    const end = { days: "30", expiry_action: "archive" };
    for (const days of ["", "0", "-1", "1.5", "x", "4000"]) {
      const body = await expectRefused("whole number", repo, "", "expiry", { ...end, days });
      expect(body).toContain('id="days-fault"');
    }
    await expectRefused("choices", repo, "", "expiry", { ...end, expiry_action: "burn" });
    await save(repo, "", "expiry", end);
    expect((await rowOf(repo))?.expiry).toMatchObject({ action: "archive", extensionMs: null });
    expect(await show(repo)).toMatch(/It will be archived .*in 4 weeks/);
    await save(repo, "", "expiry", {
      days: "2",
      expiry_action: "delete",
      extends_on_push: "on",
    });
    expect((await rowOf(repo))?.expiry).toMatchObject({
      action: "delete",
      extensionMs: 2 * 24 * 3600 * 1000,
    });
    expect((await browser.get(`/${owner.name}/${repo.name}`)).body).toMatch(
      /This repository will be deleted .*in 1 day.*\. Each push puts that off/,
    );
    await save(repo, "", "keep");
    await save(repo, "", "keep");
    expect((await rowOf(repo))?.expiry).toBeNull();
    expect((await browser.get(`/${owner.name}/${repo.name}`)).body).not.toContain(
      "will be deleted",
    );
  });

  it("offer an administrator who may not delete it no deletion, and refuse one", async () => {
    const other = await make.user();
    const repo = await make.repo(other);
    await make.collaborator(repo, owner, 3);
    expect(await show(repo)).not.toContain(">It is deleted<");
    await expectRefused("may let it be deleted", repo, "", "expiry", {
      days: "30",
      expiry_action: "delete",
    });
    await save(repo, "", "expiry", { days: "30", expiry_action: "archive" });
  });

  it("offer it to a new owner, and take the offer back", async () => {
    const repo = await make.repo(owner);
    const other = await make.user();
    await expectRefused("must be a user or an organization", repo, "", "transfer", {
      repo_name: repo.name,
      new_owner: "nobody-at-all",
    });
    await save(repo, "", "transfer", { repo_name: repo.name, new_owner: other.name });
    const offers = () =>
      db.select().from(repositoryTransfers).where(eq(repositoryTransfers.repoId, repo.id));
    expect(await offers()).toMatchObject([{ recipientId: other.id }]);
    expect(await show(repo)).toContain("Take the offer back");
    await save(repo, "", "cancel_transfer");
    expect(await offers()).toEqual([]);
    await save(repo, "", "cancel_transfer");
  });

  it("move it to an organization with a team", async () => {
    const repo = await make.repo(owner);
    const org = await make.org([owner]);
    const team = await make.team(org, { name: "crew", all: false });
    await expectRefused("must be names of teams", repo, "", "transfer", {
      repo_name: repo.name,
      new_owner: org.name,
      teams: "others",
    });
    const to = await save(repo, "", "transfer", {
      repo_name: repo.name,
      new_owner: org.name,
      teams: team.name,
    });
    expect(to).toBe(`/${org.name}/${repo.name}/settings`);
    expect(await rowOf(repo)).toMatchObject({ ownerId: org.id });
  });

  it("delete it where its name is typed", async () => {
    const repo = await make.repo(owner);
    await expectRefused("must be the name of the repository", repo, "", "delete", {
      repo_name: "another",
    });
    expect(await save(repo, "", "delete", { repo_name: repo.name })).toBe(`/${owner.name}`);
    expect(await rowOf(repo)).toBeUndefined();
    expect((await send(repo, "", "delete", { repo_name: repo.name })).status).toBe(404);
  });
});

describe("the collaborators of a repository", () => {
  const accessOf = async (repo: TestRepo, user: TestUser) =>
    (
      await db
        .select()
        .from(collaborations)
        .where(and(eq(collaborations.repoId, repo.id), eq(collaborations.userId, user.id)))
    )[0]?.access;

  it("are added, changed and removed", async () => {
    const repo = await make.repo(owner);
    const user = await make.user();
    const collaborator = user.name;
    await save(repo, "/collaboration", "add", { collaborator, permission: "read" });
    expect(await accessOf(repo, user)).toBe(1);
    await save(repo, "/collaboration", "add", { collaborator, permission: "admin" });
    expect(await accessOf(repo, user)).toBe(3);
    expect(await show(repo, "/collaboration")).toMatch(/value="admin" selected/);
    await save(repo, "/collaboration", "delete", { collaborator });
    expect(await accessOf(repo, user)).toBeUndefined();
  });

  it("are users whom one may know, and not the owner", async () => {
    const repo = await make.repo(owner);
    const hidden = await make.user({ visibility: "private" });
    for (const [collaborator, text] of [
      ["nobody-at-all", "must be the name of a user"],
      [hidden.name, "must be the name of a user"],
      [owner.name, "the owner of a repository can&#39;t be a collaborator"],
      [(await make.org([owner])).name, "an organization can&#39;t be a collaborator"],
    ] as const) {
      const sent = { collaborator, permission: "write" };
      const page = await expectRefused("", repo, "/collaboration", "add", sent);
      expect(page.toLowerCase()).toContain(text.toLowerCase());
    }
  });

  it("are teams, too", async () => {
    const org = await make.org([owner]);
    const repo = await make.repo(org);
    const team = await make.team(org, { name: "crew", all: false });
    await save(repo, "/collaboration", "add_team", { team: team.name });
    expect(await show(repo, "/collaboration")).toContain(`/teams/crew"`);
    await expectRefused("already added", repo, "/collaboration", "add_team", { team: team.name });
    await expectRefused("must be the name of a team", repo, "/collaboration", "add_team", {
      team: "others",
    });
    await save(repo, "/collaboration", "delete_team", { team: team.name });
    expect(await show(repo, "/collaboration")).not.toContain(`/teams/crew"`);
  });
});

describe("the rules for branches", () => {
  const rulesOf = (repo: TestRepo) =>
    db.select().from(branchProtections).where(eq(branchProtections.repoId, repo.id));

  const FIELDS = {
    rule_name: "release/**",
    enable_push: "on",
    enable_push_whitelist: "on",
    required_approvals: "2",
    enable_status_check: "on",
    status_check_contexts: "build\ntest/*",
    protected_file_patterns: "*.lock",
    enable_merge_queue: "on",
    merge_queue_style: "squash",
    merge_queue_batch_size: "3",
    merge_queue_wait_minutes: "30",
  };

  it("are made with each field, and changed", async () => {
    const repo = await make.repo(owner);
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    await save(repo, "/branches/edit", "save", {
      ...FIELDS,
      push_whitelist_usernames: `${writer.name}, ${owner.name}`,
    });
    const [rule] = await rulesOf(repo);
    expect(rule).toMatchObject({
      name: "release/**",
      settings: {
        isPushEnabled: true,
        isForcePushEnabled: false,
        push: { isRestricted: true, userIds: expect.arrayContaining([writer.id, owner.id]) },
        requiredApprovals: 2,
        isStatusCheckEnabled: true,
        statusContexts: ["build", "test/*"],
        protectedFilePatterns: "*.lock",
        isMergeQueueEnabled: true,
        mergeQueueStyle: "squash",
        mergeQueueBatchSize: 3,
        mergeQueueWaitMinutes: 30,
      },
    });
    const page = await show(repo, "/branches/edit?rule_name=release%2F**");
    expect(page).toContain(writer.name);
    const fields = {
      ...FIELDS,
      rule: "release/**",
      updated_at: String(rule?.updatedAt),
      required_approvals: "1",
      push_whitelist_usernames: "",
    };
    await save(repo, "/branches/edit", "save", fields);
    expect((await rulesOf(repo))[0]?.settings).toMatchObject({
      requiredApprovals: 1,
      push: { userIds: [] },
    });
  });

  it("are not overwritten where somebody else has changed them meanwhile", async () => {
    const repo = await make.repo(owner);
    const { name } = await makeRule(repo);
    const page = await expectRefused(
      "Somebody else has changed the rule meanwhile",
      repo,
      "/branches/edit",
      "save",
      { ...FIELDS, rule: name, updated_at: "1" },
    );
    expect(page).toMatch(/name="updated_at" value="1000"/);
    expect(page).toMatch(
      /name="required_approvals"[^>]*value="2"|value="2"[^>]*name="required_approvals"/,
    );
  });

  it("refuse what they can't be", async () => {
    const repo = await make.repo(owner);
    await makeRule(repo, { name: "main" });
    for (const [fields, text] of [
      [{ rule_name: "main" }, "must not have a rule already"],
      [{ rule_name: " " }, "must not be empty"],
      [{ rule_name: "[" }, "brackets"],
      [{ required_approvals: "many" }, "must be a whole number"],
      [{ merge_queue_batch_size: "21" }, "must be a number from 1 to 20"],
      [{ push_whitelist_usernames: "nobody-at-all" }, "user does not exist"],
      [{ protected_file_patterns: "[" }, "brackets"],
    ] as const) {
      const page = await expectRefused("", repo, "/branches/edit", "save", {
        ...FIELDS,
        ...fields,
      });
      expect(page.toLowerCase()).toContain(text.toLowerCase());
    }
    await db.update(repositories).set({ archivedAt: 5000 }).where(eq(repositories.id, repo.id));
    await expectRefused("is archived", repo, "/branches/edit", "save", FIELDS);
  });

  it("list the branches to which each applies now, in their order", async () => {
    const org = await make.org([owner]);
    const repo = await make.repo(org);
    await storeNames(
      repo,
      ["main", "release/1", "release/2"].map((name) => `refs/heads/${name}`),
    );
    const all = await makeRule(repo, { name: "release/*", priority: 2 });
    const one = await makeRule(repo, { name: "release/1", priority: 1, isPriorityExplicit: true });
    const settings = {
      isPushEnabled: true,
      requiredApprovals: 2,
      isStatusCheckEnabled: true,
      statusContexts: ["ci/test", "lint"],
      blockAdminMergeOverride: true,
    };
    await makeRuleset(org, { name: "**", settings });
    const matches = (page: string, rule: string) =>
      new RegExp(`<code>${rule.replaceAll("*", "\\*")}</code><div class="soft">(.*?)</div>`)
        .exec(page)?.[1]
        ?.replaceAll(/<[^>]*>/g, "");

    const page = await show(repo, "/branches");
    expect(matches(page, "release/1")).toBe("Matches now: release/1");
    expect(matches(page, "release/*")).toBe("Matches now: release/2");
    expect(matches(page, "**")).toContain("main");
    expect(page.match(/<div class="soft">No pushes<\/div>/g)).toHaveLength(2);
    expect(page).toContain(
      "All writers may push; 2 approvals; checks: ci/test, lint; administrators are bound",
    );

    await save(repo, "/branches", "order", { [`place-${all.id}`]: "1", [`place-${one.id}`]: "2" });
    const ordered = await show(repo, "/branches");
    expect(matches(ordered, "release/*")).toBe("Matches now: release/1, release/2");
    expect(matches(ordered, "release/1")).toBe("Matches no branch now");
    await save(repo, "/branches", "delete", { rule: "release/1" });
    expect((await rulesOf(repo)).map(({ name }) => name)).toEqual(["release/*"]);
  });
});

describe("the rules for tags", () => {
  it("are made, changed and deleted, and list what they match", async () => {
    const repo = await make.repo(owner);
    await storeNames(repo, ["refs/tags/v1", "refs/tags/v2", "refs/tags/other"]);
    const users = { whitelist_usernames: owner.name };
    await save(repo, "/tags", "create", { name_pattern: "/^v[0-9]$/", ...users });
    const rules = () => db.select().from(tagProtections).where(eq(tagProtections.repoId, repo.id));
    const [rule] = await rules();
    expect(rule).toMatchObject({ namePattern: "/^v[0-9]$/", userIds: [owner.id] });
    expect((await show(repo, "/tags")).replaceAll(/<[^>]*>/g, "")).toContain("Matches now: v1, v2");

    await expectRefused("already exist", repo, "/tags", "create", {
      name_pattern: "/^v[0-9]$/",
      ...users,
    });
    await expectRefused("are empty", repo, "/tags", "create", { name_pattern: "x" });
    const nameless = { name_pattern: " ", ...users };
    await expectRefused("must not be empty", repo, "/tags", "create", nameless);
    await expectRefused("must not be empty", repo, `/tags/${rule?.id}`, "save", nameless);
    await save(repo, `/tags/${rule?.id}`, "save", { name_pattern: "o*", ...users });
    expect((await show(repo, "/tags")).replaceAll(/<[^>]*>/g, "")).toContain("Matches now: other");
    await save(repo, "/tags", "delete", { id: String(rule?.id) });
    expect(await rules()).toEqual([]);
  });

  it("of another repository are not found", async () => {
    const [repo, other] = [await make.repo(owner), await make.repo(await make.user())];
    const { id } = await makeTagRule(other);
    expect((await browser.get(pathOf(repo, `/tags/${id}`))).status).toBe(404);
    expect((await send(repo, "/tags", "delete", { id: String(id) })).status).toBe(404);
  });
});

describe("the deploy keys of a repository", () => {
  it("are added and removed", async () => {
    const repo = await make.repo(owner);
    const { line, fingerprint } = makeSshKey();
    await save(repo, "/keys", "add", { title: "Builder", key: line });
    const keys = () => db.select().from(publicKeys).where(eq(publicKeys.repoId, repo.id));
    const [key] = await keys();
    expect(key).toMatchObject({ title: "Builder", fingerprint, isReadOnly: true });
    await expectRefused("has been used", repo, "/keys", "add", { title: "Other", key: line });
    await expectRefused("Invalid key content", repo, "/keys", "add", { title: "Other", key: "x" });
    await expectRefused("must not be empty", repo, "/keys", "add", { title: " ", key: line });
    await save(repo, "/keys", "delete", { id: String(key?.id) });
    expect(await keys()).toEqual([]);
  });
});

describe("the large files of a repository", () => {
  it("are listed, with the locks that administrators take away", async () => {
    const repo = await make.repo(owner);
    const [oid, other] = ["ab".repeat(32), await make.user()];
    const object = { repoId: repo.id, oid, sizeBytes: 2048, uploadId: repo.name, createdAt: 1000 };
    await db.insert(lfsObjects).values(object);
    await db
      .insert(lfsLocks)
      .values({ repoId: repo.id, path: "a.bin", ownerId: other.id, lockedAt: 1000 });
    expect(await show(repo, "/lfs")).toContain(oid);

    await save(repo, "/lfs/locks", "add", { path: "dir/b.bin" });
    await expectRefused(`by ${other.name} already`, repo, "/lfs/locks", "add", { path: "a.bin" });
    await expectRefused("does not lead out", repo, "/lfs/locks", "add", { path: "../b" });
    const page = await show(repo, "/lfs/locks");
    expect(page).toContain("a.bin");
    expect(page).toContain("dir/b.bin");
    const locks = () => db.select().from(lfsLocks).where(eq(lfsLocks.repoId, repo.id));
    for (const { id } of await locks())
      await save(repo, "/lfs/locks", "delete", { id: String(id) });
    expect(await locks()).toEqual([]);
    const archive = await make.repo(owner, { archivedAt: 1000 });
    await expectRefused("archived", archive, "/lfs/locks", "add", { path: "c.bin" });
  });
});

describe("the mirrors of a repository", () => {
  it("follow a remote as its administrators choose", async () => {
    const repo = await make.repo(owner);
    await makePullMirror(repo);
    expect(await show(repo, "/mirrors")).toContain("Synchronize now");
    await save(repo, "/mirrors", "mirror", {
      mirror_address: NOWHERE,
      mirror_interval: "10h0m0s",
    });
    expect(await pullMirrorOf(repo)).toMatchObject({ intervalSeconds: 36_000, isPruned: false });
    await expectRefused("invalid duration", repo, "/mirrors", "mirror", {
      mirror_address: NOWHERE,
      mirror_interval: "soon",
    });
    await save(repo, "/mirrors", "convert");
    expect(await rowOf(repo)).toMatchObject({ isMirror: false });
  });

  it("are followed by remotes", async () => {
    const repo = await make.repo(owner);
    const { remoteName } = await makePushMirror(repo, { lastError: "no route", state: "failing" });
    const page = await show(repo, "/mirrors");
    expect(page).toContain("no route");
    await expectRefused("Invalid", repo, "/mirrors", "push-mirror-add", {
      remote_address: "ftp://remote.example",
      interval: "0",
    });
    await save(repo, "/mirrors", "push-mirror-add", { remote_address: NOWHERE, interval: "0" });
    await save(repo, "/mirrors", "push-mirror-sync");
    await save(repo, "/mirrors", "push-mirror-remove", { remote_name: remoteName });
    const mirrors = await db.select().from(pushMirrors).where(eq(pushMirrors.repoId, repo.id));
    expect(mirrors).toMatchObject([{ address: NOWHERE, intervalSeconds: 0, syncsOnCommit: false }]);
  });
});
