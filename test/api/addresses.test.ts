import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { attachments } from "../../src/db/schema/index.ts";
import { type Answer, call, visit } from "../support/call.ts";
import { db } from "../support/db.ts";
import { makeFiles } from "../support/files.ts";
import { make, type TestUser } from "../support/make.ts";
import { push } from "../support/push.ts";
import { sampleOf } from "../support/sample.ts";
import { byId, isRead, sampled } from "../support/samples/gather.ts";
import { requestIn } from "../support/samples/request.ts";
import { World } from "../support/samples/world.ts";
import { startSession } from "../support/sessions.ts";

const ADDRESS = /https:\/\/forge\.example(\/[^\s"'<>)]*)/g;

/** All addresses of the service in a value, below its root. */
function listAddresses(value: unknown): string[] {
  if (typeof value === "string") return [...value.matchAll(ADDRESS)].map(([, path = ""]) => path);
  return typeof value === "object" && value !== null
    ? Object.values(value).flatMap(listAddresses)
    : [];
}

/** All addresses of the service in an answer. */
const addressesOf = ({ body, headers }: Answer): Set<string> =>
  new Set(
    listAddresses([body, headers.get("Link"), headers.get("Location")]).map(
      (path) => path.replaceAll("&amp;", "&").split("#")[0] ?? "",
    ),
  );

/** Addresses of pages: of accounts, of repositories, and of what they have. */
const PAGE = [
  /^\/[^/]+$/,
  /^\/(?!attachments\/|avatars\/)[^/]+\/[^/]+$/,
  /^\/[^/]+\/[^/]+\/(?:src|commit|commits|compare|releases\/tag)\/(?!.*\.(?:diff|patch)$)/,
  /^\/[^/]+\/-\/packages\//,
  /^\/[^/]+\/[^/]+\/(?:issues|pulls)\/\d+$/,
];

/** What a client appends to the address of a repository. */
const GIT_SUFFIX = "/info/refs?service=git-upload-pack";

/** The addresses, as clients request them. */
const followable = (answer: Answer): string[] =>
  [...addressesOf(answer)].map((path) =>
    !path.startsWith("/api/") && path.endsWith(".git") ? path + GIT_SUFFIX : path,
  );

const isOf = (patterns: readonly RegExp[], path: string): boolean =>
  patterns.some((pattern) => pattern.test(path));

/** Requests addresses as a user, pages in a browser, and returns those that lead nowhere. */
async function follow(paths: readonly string[], as: TestUser): Promise<string[]> {
  const found = [];
  const browser = { headers: { ...(await startSession(as)), Accept: "text/html" } };
  for (const path of paths) {
    const { status } = await visit("GET", path, isOf(PAGE, path) ? browser : { as });
    if (status !== 200) found.push(`${status} ${path}`);
  }
  return found;
}

/** Addresses that lead nowhere, since the data of the sample are not complete. */
const INCOMPLETE: Readonly<Record<string, RegExp>> = {
  // The key is another user's, who alone reads it.
  adminCreatePublicKey: /\/user\/keys\/\d+$/,
  // The file of the workflow is not pushed.
  ActionsListRepositoryWorkflows: /\/ci\.yml$/,
  ActionsGetWorkflow: /\/ci\.yml$/,
  // Where the imported repository came from.
  repoImport: /^\/gardeners\/garden$/,
  // The tag is not created.
  repoListReleases: /\/archive\/v/,
  repoGetLatestRelease: /\/archive\/v/,
  repoGetReleaseByTag: /\/archive\/v/,
  repoGetRelease: /\/archive\/v/,
  repoEditRelease: /\/archive\/v/,
};

const stored = new Set<string>();

/** Stores the bytes of all attachments, which those of a world lack. */
async function storeBytes(): Promise<void> {
  for (const { uuid, sizeBytes } of await db.select().from(attachments)) {
    if (!stored.has(uuid)) await env.PACKS.put(`attachments/${uuid}`, "x".repeat(sizeBytes));
    stored.add(uuid);
  }
}

/** Writes of a usual run; all in `npm run test:deep`. */
const WRITES = 60;

describe("each address in an answer", () => {
  const shared = new World();
  const followed = new Set<string>();
  const writes = sampled.filter((operation) => !isRead(operation));
  const operations = [
    ...sampled.filter(isRead),
    ...sampleOf(writes, WRITES, "addresses in answers of writes"),
  ];

  it.each(byId(operations))("leads to what it names: %s", async (id, operation) => {
    const request = await requestIn(isRead(operation) ? shared : new World(), operation);
    const { method, path, caller: as, content } = request;
    const paths = followable(await call(method, path, { as, ...content }));
    const fresh = paths.filter((each) => !followed.has(each) && !INCOMPLETE[id]?.test(each));
    for (const each of fresh) followed.add(each);
    await storeBytes();
    expect(await follow(fresh, as)).toEqual([]);
  });

  it("was found in the answers", () => {
    const files = ["/raw/", "/attachments/", "/releases/download/", ".diff", "/avatars/"];
    const pages = ["/src/branch/", "/commit/", "/releases/tag/"];
    for (const part of [...files, ...pages]) {
      expect([...followed].filter((path) => path.includes(part)).length, part).toBeGreaterThan(0);
    }
  });
});

describe("each address of a release", () => {
  it("leads to what it names, with the names of the files", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { isPrivate: true });
    const made = makeFiles({ a: "text" });
    await push(owner, repo, made.oid, made.pack);
    const path = `/repos/${owner.name}/${repo.name}/releases`;
    for (const tag_name of ["v1", "rel/1#a", "100%25"]) {
      const json = { tag_name, target_commitish: "main" };
      const { body } = await call("POST", path, { as: owner, json });
      for (const name of ["a b.txt", "c%2F#.txt", "same", "same"]) {
        const assets = `${path}/${body.id}/assets?name=${encodeURIComponent(name)}`;
        const headers = { "Content-Type": "application/octet-stream" };
        const added = await call("POST", assets, {
          as: owner,
          headers,
          body: `${tag_name}/${name}`,
        });
        const url = new URL(added.body.browser_download_url).pathname;
        expect(await visit("GET", url), url).toMatchObject({ status: 404 });
        const got = await visit("GET", url, { as: owner });
        expect(got, url).toMatchObject({ status: 200, body: `${tag_name}/${name}` });
      }
      const release = await call("GET", `${path}/${body.id}`, { as: owner });
      const paths = followable(release);
      expect(paths.filter((each) => each.includes("/archive/"))).toHaveLength(2);
      expect(paths.filter((each) => each.includes("/releases/download/"))).toHaveLength(2);
      expect(paths.filter((each) => each.includes("/attachments/"))).toHaveLength(2);
      expect(await follow(paths, owner)).toEqual([]);
    }
  });
});

describe("each address of a rendered text", () => {
  it("leads to what it names, for files of a branch, a tag and a commit", async () => {
    const owner = await make.user();
    const repo = await make.repo(owner, { isPrivate: true });
    const made = makeFiles({ "docs/a b.png": "\x89PNG\r\n\x1a\n", "root.png": "x" });
    await push(owner, repo, made.oid, made.pack);
    await push(owner, repo, made.oid, made.pack, "refs/heads/some/branch");
    await push(owner, repo, made.oid, made.pack, "refs/tags/v1");
    const base = `/${owner.name}/${repo.name}`;
    for (const at of ["branch/main", "branch/some/branch", "tag/v1", `commit/${made.oid}`]) {
      const json = {
        Text: `![a](a%20b.png) <img src="../root.png"> ![b](/docs/a%20b.png)`,
        Mode: "gfm",
        Context: `${base}/src/${at}`,
        FilePath: "docs/README.md",
      };
      const answer = await call("POST", "/markup", { as: owner, json });
      const paths = followable(answer).filter((path) => path.includes("/media/"));
      expect(paths, answer.body).toEqual(
        ["docs/a%20b.png", "root.png"].map((file) => `${base}/media/${at}/${file}`),
      );
      expect(await follow(paths, owner)).toEqual([]);
    }
  });
});
