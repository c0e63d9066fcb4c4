import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import {
  attachmentLooseFiles,
  auditEvents,
  events,
  imports,
  issues,
  reactions,
  repositories,
} from "../../../src/db/schema/index.ts";
import { GIT_BUNDLE, MANIFEST } from "../../../src/domain/exchange/exports/export-files.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import {
  bundleOf,
  contentOfExport,
  exportBytes,
  filesOfExport,
  madeManifest,
  makeBundle,
  makeExport,
  ZIP,
} from "../../support/exports.ts";
import { objectsOf } from "../../support/large-files.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { serviceWith } from "../../support/service.ts";
import { makeWholeRepository } from "../../support/whole-repository.ts";

type Query = Readonly<Record<string, string>>;

const importAs = (as: TestUser, body: BodyInit, query: Query = {}, service = call) =>
  service("POST", `/repos/import?${new URLSearchParams(query)}`, { as, body });

const zipOf = (bytes: Uint8Array<ArrayBuffer>): Blob => new Blob([bytes], { type: ZIP });

/** All that an import may write for an owner. */
const writtenFor = async (owner: { id: number }) => ({
  repos: (await db.select().from(repositories).where(eq(repositories.ownerId, owner.id))).length,
  imports: (await db.select().from(imports).where(eq(imports.doerId, owner.id))).length,
  events: (await db.select().from(events).where(eq(events.ownerId, owner.id))).length,
  audit: (await db.select().from(auditEvents).where(eq(auditEvents.ownerId, owner.id))).length,
});
const NOTHING = { repos: 0, imports: 0, events: 0, audit: 0 };

/** The files of uploads that are kept, besides some. */
const listKept = async (besides: readonly string[] = []) => {
  const rows = await db.select().from(attachmentLooseFiles);
  const kept = rows.filter(({ expiresAt }) => expiresAt > 0).map(({ uuid }) => uuid);
  return kept.filter((uuid) => !besides.includes(uuid));
};

/** The service that waits for all its deferred work. */
const callToEnd = serviceWith({});

describe("POST /repos/import", () => {
  it("takes all that an export has: exported again, it is the same", async () => {
    const { owner, repo, large } = await makeWholeRepository();
    const other = await make.user();
    const bytes = await exportBytes(repo, owner);
    const name = freshName("garden");

    const { status, body } = await importAs(other, zipOf(bytes), { name });

    expect({ status, body }).toMatchObject({
      status: 201,
      body: {
        name,
        owner: { login: other.name },
        description: "A garden 🌱",
        website: "https://garden.example/",
        topics: ["plants", "soil"],
        archived: true,
        private: false,
        has_issues: true,
        original_url: `https://forge.example/${repo.owner}/${repo.name}`,
        default_branch: "main",
      },
    });
    expect(body.migration).toBeUndefined();
    const before = await contentOfExport(await filesOfExport(bytes));
    const again = await exportBytes({ owner: other.name, name }, other);
    expect(await contentOfExport(await filesOfExport(again))).toEqual(before);
    const { issues: exported, pulls, reviews } = before.items;
    expect([exported, pulls, reviews].map(({ length }) => length)).toEqual([3, 3, 2]);
    expect(await objectsOf(body)).toMatchObject([{ oid: large.oid }]);
    const wikis = await Promise.all(
      [repo, { owner: other.name, name }].map((each) =>
        call("GET", `/repos/${each.owner}/${each.name}/wiki/page/Home`),
      ),
    );
    expect(wikis[1]?.body).toMatchObject({
      content_base64: btoa("# Garden\n"),
      last_commit: wikis[0]?.body.last_commit,
    });
    expect((await filesOfExport(again)).has("wiki.bundle")).toBe(true);
    const migration = await call("GET", `/repos/${other.name}/${name}/migration`, { as: other });
    const state = { state: "done", service: "bundle", clone_addr: "", notes: [] };
    expect(migration.body).toMatchObject(state);
    const recorded = await db.select().from(events).where(eq(events.ownerId, other.id));
    expect(recorded.map(({ type }) => type)).toEqual([
      "repository.created",
      "repository.topics_changed",
      "migration.finished",
    ]);
  });

  // An id or a name elsewhere is not the account of that id or name here.
  it("keeps authors as original ones, and takes what needs an account for mapped ones alone", async () => {
    const { owner, reviewer, repo } = await makeWholeRepository();
    const admin = await make.admin();
    const bytes = await exportBytes(repo, owner);
    const [plain, mapped] = [freshName("plain"), freshName("mapped")];
    const authors = JSON.stringify({ [owner.name]: owner.name, [reviewer.name]: reviewer.name });

    const first = await importAs(owner, zipOf(bytes), { name: plain });
    const second = await importAs(admin, zipOf(bytes), { name: mapped, authors });

    expect([first.status, second.status]).toEqual([201, 201]);
    const posters = async ({ id }: { id: number }) =>
      (await db.select().from(issues).where(eq(issues.repoId, id)).orderBy(issues.number)).map(
        ({ posterId, originalAuthor, originalAuthorId }) => [
          posterId,
          originalAuthor,
          originalAuthorId,
        ],
      );
    expect((await posters(first.body)).slice(0, 3)).toEqual([
      [null, owner.name, owner.id],
      [null, owner.name, owner.id],
      [null, "far", 7],
    ]);
    expect((await posters(second.body)).slice(0, 3)).toEqual([
      [owner.id, "", 0],
      [owner.id, "", 0],
      [null, "far", 7],
    ]);
    const reactionsOf = ({ id }: { id: number }) =>
      db
        .select({ content: reactions.content, userId: reactions.userId })
        .from(reactions)
        .innerJoin(issues, eq(issues.id, reactions.issueId))
        .where(eq(issues.repoId, id));
    expect(await reactionsOf(first.body)).toEqual([]);
    expect(await reactionsOf(second.body)).toEqual([
      { content: "+1", userId: owner.id },
      { content: "eyes", userId: owner.id },
    ]);
    const content = async (of: Uint8Array) => contentOfExport(await filesOfExport(of), []);
    const again = await exportBytes({ owner: admin.name, name: mapped }, admin);
    expect(await content(again)).toEqual(await content(bytes));
  });

  it("takes name and visibility of the manifest unless the request has its own", async () => {
    const owner = await make.user();
    const org = await make.org([owner]);
    const name = freshName("garden");
    const manifest = madeManifest({
      name,
      isPrivate: true,
      tracksIssues: false,
      htmlUrl: "javascript:1",
    });
    const file = makeExport({ [MANIFEST]: manifest });

    const own = await importAs(owner, file);
    const ofOrg = await importAs(owner, file, { owner: org.name, private: "false" });

    expect(own).toMatchObject({
      status: 201,
      body: { name, private: true, has_issues: false, original_url: "", empty: false },
    });
    expect(ofOrg).toMatchObject({
      status: 201,
      body: { name, private: false, owner: { login: org.name } },
    });
  });

  it("takes an empty repository, which has no bundle", async () => {
    const owner = await make.user();
    const manifest = madeManifest({ defaultBranch: "trunk" });
    const file = makeExport({ [GIT_BUNDLE]: undefined, [MANIFEST]: manifest });

    const { status, body } = await importAs(owner, file);

    expect({ status, body }).toMatchObject({
      status: 201,
      body: { empty: true, default_branch: "trunk", description: "A garden 🌱" },
    });
  });

  it("lets the file go when it is done, and can't be repeated", async () => {
    const owner = await make.user();
    const before = await listKept();

    const { body } = await importAs(owner, makeExport());

    expect(await listKept(before)).toEqual([]);
    const path = `/repos/${owner.name}/${body.name}/migration/continue`;
    expect(await call("POST", path, { as: owner, json: {} })).toMatchObject({
      status: 409,
      body: { message: "the export is no longer here: import it anew" },
    });
  });

  const bundle = makeBundle();
  const issue = {
    kind: "issue",
    foreignId: "1",
    number: 1,
    poster: { id: 1, name: "ada" },
    title: "First",
    body: "",
    ref: "",
    labelIds: [],
    milestoneId: null,
    assignees: [],
    reactions: [],
    isLocked: false,
    isClosed: false,
    closedAt: null,
    deadlineAt: null,
    createdAt: 1000,
    updatedAt: 1000,
  };
  const page = "issues/000001.json";
  const manifest = madeManifest();
  it.each<[string, Blob, string | RegExp]>([
    ["no zip", new Blob(["PK nothing"], { type: ZIP }), "no export"],
    ["nothing", new Blob([], { type: ZIP }), "no export"],
    ["cut off", makeExport().slice(0, 300, ZIP), "no export"],
    ["without a manifest", makeExport({ [MANIFEST]: undefined }), "it has no manifest.json"],
    ["of a manifest that is no JSON", makeExport({ [MANIFEST]: "{" }), "manifest.json is no JSON"],
    [
      "of another version",
      makeExport({ [MANIFEST]: { ...manifest, version: 2 } }),
      /manifest\.json: version: /,
    ],
    [
      "of another format",
      makeExport({ [MANIFEST]: { ...manifest, format: "other" } }),
      /manifest\.json: format: /,
    ],
    [
      "of a project with a name that no repository has",
      makeExport({ [MANIFEST]: madeManifest({ name: "../x" }) }),
      /^\[name\]: must consist of/,
    ],
    [
      "of more files than are read",
      makeExport(Object.fromEntries(Array.from({ length: 5001 }, (_, at) => [`lfs/${at}`, ""]))),
      "the archive has more than 5000 entries",
    ],
    ["with paths that leave it", makeExport({ "../x": "x" }), "no export"],
    [
      "with a bundle that needs more than it has",
      makeExport({
        [GIT_BUNDLE]: bundleOf(`-${bundle.oid}\n${bundle.oid} refs/heads/main\n`, bundle.pack),
      }),
      "Migration failed: the bundle needs objects that it does not have.",
    ],
    [
      "with a bundle that is none",
      makeExport({ [GIT_BUNDLE]: new TextEncoder().encode("no bundle\n") }),
      "Migration failed: the file is no bundle of git.",
    ],
    [
      "with a pack that is cut off",
      makeExport({
        [GIT_BUNDLE]: bundleOf(`${bundle.oid} refs/heads/main\n`, bundle.pack.slice(0, -5)),
      }),
      /^Migration failed: the remote's pack is refused/,
    ],
    [
      "with a ref to a commit that it lacks",
      makeExport({ [GIT_BUNDLE]: bundleOf(`${"ab".repeat(20)} refs/heads/main\n`, bundle.pack) }),
      /^Migration failed: the remote's pack lacks /,
    ],
    ["with a page that is no JSON", makeExport({ [page]: "[" }), "is no JSON"],
    [
      "with a page that is no list",
      makeExport({ [page]: {} }),
      "issues/000001.json: must be a list",
    ],
    [
      "with an issue without its fields",
      makeExport({ [page]: [{ kind: "issue" }] }),
      /issues\/000001\.json: 0\.foreignId: /,
    ],
    [
      "with an issue of a number that none can have",
      makeExport({ [page]: [{ ...issue, number: 2 ** 40 }] }),
      /issues\/000001\.json: 0\.number: /,
    ],
    [
      "with two issues of one number",
      makeExport({ [page]: [issue, { ...issue, foreignId: "2" }] }),
      "two items have the same number",
    ],
    [
      "with too many items in a page",
      makeExport({ [page]: Array.from({ length: 1001 }, () => issue) }),
      "issues/000001.json: must have at most 1000 items",
    ],
    [
      "with files of releases that are the same file",
      makeExport({
        "releases/000001.json": [
          {
            foreignId: "1",
            tagName: "v1",
            target: "main",
            title: "",
            body: "",
            isDraft: false,
            isPrerelease: false,
            publisher: issue.poster,
            createdAt: 1,
            assets: ["1", "2"].map((foreignId) => ({
              foreignId,
              name: "a",
              sizeBytes: 1,
              downloadCount: 0,
              createdAt: 1,
              url: "assets/1",
            })),
          },
        ],
        "assets/1": new Uint8Array(1),
      }),
      "the url is not that of the file",
    ],
  ])("refuses a file that is %s, and leaves nothing", async (_, file, words) => {
    const owner = await make.user();
    const before = await listKept();

    const { status, body } = await importAs(owner, file, {}, callToEnd);

    expect({ status, message: body.message }).toEqual({
      status: 422,
      message: expect.stringMatching(words),
    });
    expect(await writtenFor(owner)).toMatchObject({ repos: 0, imports: 0 });
    expect(await listKept(before)).toEqual([]);
  });

  it.each<[string, number, Query, (owner: TestUser) => Promise<TestUser>]>([
    ["an owner that does not exist", 422, { owner: "nobody-at-all" }, async (owner) => owner],
    ["a name that no repository has", 422, { name: "a.wiki" }, async (owner) => owner],
    ["another user's name", 403, {}, async () => make.user()],
    [
      "authors by others than administrators",
      403,
      { authors: '{"ada":"ada"}' },
      async (owner) => owner,
    ],
    ["authors that are none", 422, { authors: "[1]" }, async (owner) => owner],
  ])("refuses %s before it reads the file", async (_, status, query, makeOwner) => {
    const creator = await make.user();
    const owner = await makeOwner(creator);
    const before = await listKept();
    const all = owner.id === creator.id ? query : { ...query, owner: owner.name };

    expect((await importAs(creator, makeExport(), all, callToEnd)).status).toBe(status);

    expect(await writtenFor(owner)).toEqual(NOTHING);
    expect(await listKept(before)).toEqual([]);
  });

  it("refuses a name that exists, with or without the name in the request", async () => {
    const owner = await make.user();
    const { name } = await make.repo(owner);
    const [written, kept] = [await writtenFor(owner), await listKept()];
    const file = makeExport({ [MANIFEST]: madeManifest({ name }) });

    for (const query of [{ name }, {}]) {
      expect(await importAs(owner, file, query, callToEnd)).toMatchObject({ status: 409 });
    }

    expect([await writtenFor(owner), await listKept(kept)]).toEqual([written, []]);
  });

  // A page of another site can send a form with a user's cookies, and no zip file unless it is
  // allowed to.
  it("refuses types that forms have, and files that are too large", async () => {
    const owner = await make.user();
    const before = await listKept();
    const bytes = await makeExport().arrayBuffer();
    const form = new FormData();
    form.append("file", makeExport());
    for (const body of [form, new Blob([bytes]), new Blob([bytes], { type: "text/plain" })]) {
      expect((await importAs(owner, body, {}, callToEnd)).status).toBe(422);
    }
    const small = serviceWith({ IMPORT_MAX_BYTES: "1024" });
    const large = makeExport({ "padding.bin": crypto.getRandomValues(new Uint8Array(2048)) });
    expect((await importAs(owner, large, {}, small)).status).toBe(413);
    // An undeclared length is counted.
    const path = "/repos/import?name=x";
    const headers = { "Content-Type": ZIP };
    expect((await small("POST", path, { as: owner, headers, body: large.stream() })).status).toBe(
      413,
    );

    expect(await writtenFor(owner)).toEqual(NOTHING);
    expect(await listKept(before)).toEqual([]);
  });

  it("refuses callers without a credential, narrow tokens, and where migrations are off", async () => {
    const owner = await make.user();
    const before = await listKept();
    const path = "/repos/import";
    const publicOnly = await make.token(owner, { scopes: "public-only,write:repository" });
    const reading = await make.token(owner, { scopes: "read:repository" });
    const off = serviceWith({ DISABLE_MIGRATIONS: "true" });

    const answers = [
      await call("POST", path, { body: makeExport() }),
      await call("POST", path, { token: reading, body: makeExport() }),
      await call("POST", `${path}?private=true`, { token: publicOnly, body: makeExport() }),
      await off("POST", path, { as: owner, body: makeExport() }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([401, 403, 403, 403]);
    expect(await writtenFor(owner)).toEqual(NOTHING);
    expect(await listKept(before)).toEqual([]);
    const isPrivate = { [MANIFEST]: madeManifest({ isPrivate: true }) };
    const hidden = await callToEnd("POST", path, {
      token: publicOnly,
      body: makeExport(isPrivate),
    });
    expect(hidden.status).toBe(403);
    expect(await writtenFor(owner)).toEqual(NOTHING);
  });
});
