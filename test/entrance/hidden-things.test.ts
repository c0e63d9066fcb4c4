import { beforeAll, describe, expect, it } from "vitest";

import { type Answer, type Sending, visit } from "../support/call.ts";
import { Browser, SAME_ORIGIN } from "../support/browser.ts";
import {
  casesOf,
  type HiddenCase,
  type HiddenPair,
  type HiddenThings,
  isAccountSeen,
  makeHiddenThings,
  type Names,
} from "../support/hidden.ts";
import { MEDIA_TYPE } from "../support/large-files.ts";
import { make } from "../support/make.ts";
import { makeAsset, makeRelease } from "../support/releases.ts";
import { traced } from "../support/trace.ts";

// SECURITY: through every door, for every caller and by every method, a name of something that the
// caller may not see is the same as a name of nothing, by the answer and by the service's work. The
// operations of the API: test/api/hidden-things.test.ts. Registries:
// test/registries/private-reads.test.ts.

let things: HiddenThings;
let callers: Readonly<Record<string, Sending>>;
beforeAll(async () => {
  things = await makeHiddenThings();
  const browser = await Browser.signedIn(await make.userWithPassword());
  const cookies = [...browser.cookies].map(([name, value]) => `${name}=${value}`);
  callers = {
    ...things.callers,
    "a stranger's session": { headers: { Cookie: cookies.join("; ") } },
  };
  // The first request to a host parses its address.
  await visit("GET", "/");
});

let turn = 0;

/**
 * Requires that a request shows no caller which of two names exists.
 *
 * @param namesOf What the answer may repeat.
 */
async function expectSame<Name>(
  pairs: readonly HiddenPair<Name>[],
  namesOf: (name: Name) => readonly string[],
  ask: (name: Name, sending: Sending) => Promise<Answer>,
  isSeen: (each: HiddenCase<Name>) => boolean = () => false,
) {
  turn += 1;
  for (const each of casesOf(callers, pairs, turn)) {
    if (isSeen(each)) continue;
    const { pair, caller, sending } = each;
    const trace = (name: Name) => traced(() => ask(name, sending), namesOf(name));
    const found = await trace(pair.hidden);
    expect(found, `${pair.what}, ${caller}`).toEqual(await trace(pair.absent));
    expect(found.headers, caller).not.toHaveProperty("x-d1-bookmark");
    expect(found.headers, caller).not.toHaveProperty("set-cookie");
    expect(found.status, caller).not.toBeLessThan(300);
  }
}

const UUID = "01234567-89ab-4cde-8f01-23456789abcd";
const OID = "0123456789abcdef".repeat(4);
const FORM = { "Content-Type": "application/x-www-form-urlencoded", Accept: "text/html" };
const V2 = { "Git-Protocol": "version=2" };

const typed = (service: string, body: string, headers: Record<string, string> = {}): Sending => ({
  headers: { "Content-Type": `application/x-${service}-request`, ...headers },
  body,
});
const lfs = (json?: object): Sending => ({
  headers: { Accept: MEDIA_TYPE, "Content-Type": MEDIA_TYPE },
  ...(json && { body: JSON.stringify(json) }),
});
const objects = [{ oid: OID, size: 1 }];

/** Requests below `/{owner}/{name}`. */
const OF_REPOSITORY: readonly (readonly [method: string, rest: string, sending?: Sending])[] = [
  ["GET", ".git/info/refs?service=git-upload-pack"],
  ["GET", ".git/info/refs?service=git-upload-pack", { headers: V2 }],
  ["GET", "/info/refs?service=git-upload-pack", { headers: V2 }],
  ["GET", ".git/info/refs?service=git-receive-pack"],
  ["GET", ".git/info/refs"],
  ["HEAD", ".git/info/refs?service=git-upload-pack"],
  ["OPTIONS", ".git/info/refs?service=git-upload-pack"],
  ["GET", ".git/HEAD"],
  ["GET", ".git/objects/info/packs"],
  ["POST", ".git/git-upload-pack", typed("git-upload-pack", "0000")],
  ["POST", ".git/git-upload-pack", typed("git-upload-pack", "0014command=ls-refs\n0000", V2)],
  ["POST", ".git/git-upload-pack", typed("text", "x")],
  ["POST", ".git/git-receive-pack", typed("git-receive-pack", "0000")],
  ["POST", "/git-receive-pack", typed("git-receive-pack", "x")],
  ["POST", ".git/info/lfs/objects/batch", lfs({ operation: "download", objects })],
  ["POST", ".git/info/lfs/objects/batch", lfs({ operation: "upload", objects })],
  ["POST", ".git/info/lfs/objects/batch", lfs({})],
  ["GET", `.git/info/lfs/objects/${OID}`],
  ["HEAD", `.git/info/lfs/objects/${OID}`],
  ["PUT", `.git/info/lfs/objects/${OID}/1`, { body: "x" }],
  ["POST", ".git/info/lfs/verify", lfs({ oid: OID, size: 1 })],
  ["GET", ".git/info/lfs/locks", lfs()],
  ["POST", ".git/info/lfs/locks", lfs({ path: "a" })],
  ["POST", ".git/info/lfs/locks/verify", lfs({})],
  ["POST", ".git/info/lfs/locks/1/unlock", lfs({})],
  ["GET", ""],
  ["GET", "", { headers: { Accept: "text/html" } }],
  ["HEAD", "", { headers: { Accept: "text/html" } }],
  ["GET", "?go-get=1"],
  ["GET", "/src/branch/main/a", { headers: { Accept: "text/html" } }],
  ["GET", "/blame/branch/main/a", { headers: { Accept: "text/html" } }],
  ["GET", "/find/branch/main", { headers: { Accept: "text/html" } }],
  ["GET", "/tree-list/branch/main", { headers: { Accept: "text/html" } }],
  ["GET", ".wiki.git/info/refs?service=git-upload-pack"],
  ["GET", ".wiki.git/info/refs?service=git-receive-pack"],
  ["POST", ".wiki.git/git-upload-pack", typed("git-upload-pack", "0014command=ls-refs\n0000", V2)],
  ["POST", ".wiki.git/git-receive-pack", typed("git-receive-pack", "0000")],
  ["GET", "/wiki", { headers: { Accept: "text/html" } }],
  ["GET", "/wiki/Home?action=_revision", { headers: { Accept: "text/html" } }],
  ["GET", "/wiki?action=_pages&q=a", { headers: { Accept: "text/html" } }],
  ["GET", "/wiki?action=_new", { headers: { Accept: "text/html" } }],
  ["POST", "/wiki/Home?action=_edit", { headers: { Accept: "text/html" } }],
  ["GET", "/wiki/raw/Home.md"],
  ["GET", `/wiki/commit/${OID.slice(0, 40)}.diff`],
  ["GET", "/search?q=a", { headers: { Accept: "text/html" } }],
  ["GET", "/commits/branch/main", { headers: { Accept: "text/html" } }],
  ["GET", `/commit/${OID.slice(0, 40)}`, { headers: { Accept: "text/html" } }],
  ["GET", `/commit/${OID.slice(0, 40)}.diff`],
  ["GET", `/commit/${OID.slice(0, 40)}/branches-and-tags`, { headers: { Accept: "text/html" } }],
  ["GET", "/commits/branch/main/search?q=a", { headers: { Accept: "text/html" } }],
  ["GET", "/graph", { headers: { Accept: "text/html" } }],
  ["GET", "/settings", { headers: { Accept: "text/html" } }],
  ["GET", "/settings/branches", { headers: { Accept: "text/html" } }],
  ["GET", "/settings/actions/secrets", { headers: { Accept: "text/html" } }],
  ["GET", "/settings/actions/variables/A", { headers: { Accept: "text/html" } }],
  ["GET", "/settings/actions/runners/new", { headers: { Accept: "text/html" } }],
  ["GET", "/settings/actions/runners/1", { headers: { Accept: "text/html" } }],
  ["GET", "/settings/hooks/1/deliveries/1", { headers: { Accept: "text/html" } }],
  ["POST", "/settings", { headers: { ...FORM, ...SAME_ORIGIN }, body: "action=archive" }],
  ["POST", "/settings/hooks", { headers: { ...FORM, ...SAME_ORIGIN }, body: "action=delete&id=1" }],
  ["GET", "/issues", { headers: { Accept: "text/html" } }],
  ["GET", "/issues?labels=1", { headers: { Accept: "text/html" } }],
  ["GET", "/pulls", { headers: { Accept: "text/html" } }],
  ["GET", "/issues/1", { headers: { Accept: "text/html" } }],
  ["GET", "/issues/1?entry=1", { headers: { Accept: "text/html" } }],
  ["GET", "/pulls/1", { headers: { Accept: "text/html" } }],
  ["GET", "/issues/1/version", { headers: { Accept: "text/html" } }],
  ["GET", "/pulls/1/version", { headers: { Accept: "text/html" } }],
  ["GET", "/pulls/1/commits", { headers: { Accept: "text/html" } }],
  ["GET", "/pulls/1/files", { headers: { Accept: "text/html" } }],
  ["POST", "/compare/main...a", { headers: { ...FORM, ...SAME_ORIGIN }, body: "title=a" }],
  ["GET", "/issues/1/history", { headers: { Accept: "text/html" } }],
  ["GET", "/issues/suggestions?q=%23", { headers: { Accept: "text/html" } }],
  ["GET", "/issues/new", { headers: { Accept: "text/html" } }],
  ["GET", "/issues/new/choose", { headers: { Accept: "text/html" } }],
  ["POST", "/issues/new", { headers: { ...FORM, ...SAME_ORIGIN }, body: "title=a" }],
  ["POST", "/issues", { headers: { ...FORM, ...SAME_ORIGIN }, body: "change=close&issue-1=on" }],
  ["POST", "/pulls", { headers: { ...FORM, ...SAME_ORIGIN }, body: "change=close&issue-1=on" }],
  ["POST", "/issues/attachments", { headers: SAME_ORIGIN, body: new FormData() }],
  ["POST", "/markup", { headers: { ...FORM, ...SAME_ORIGIN }, body: "preview=body" }],
  ["POST", "/issues/1", { headers: { ...FORM, ...SAME_ORIGIN }, body: "action=comment" }],
  ["GET", "/_new/main", { headers: { Accept: "text/html" } }],
  ["POST", "/_new/main", { headers: { ...FORM, ...SAME_ORIGIN }, body: "content=a" }],
  ["GET", "/_edit/main/a", { headers: { Accept: "text/html" } }],
  ["POST", "/_edit/main/a", { headers: { ...FORM, ...SAME_ORIGIN }, body: "content=a" }],
  ["GET", "/_delete/main/a", { headers: { Accept: "text/html" } }],
  ["POST", "/_delete/main/a", { headers: { ...FORM, ...SAME_ORIGIN }, body: "content=a" }],
  ["GET", "/_upload/main", { headers: { Accept: "text/html" } }],
  ["POST", "/_upload/main", { headers: { ...FORM, ...SAME_ORIGIN }, body: "content=a" }],
  ["GET", "/_diffpatch/main", { headers: { Accept: "text/html" } }],
  ["POST", "/_diffpatch/main", { headers: { ...FORM, ...SAME_ORIGIN }, body: "content=a" }],
  ["GET", `/_cherrypick/${OID.slice(0, 40)}/main`, { headers: { Accept: "text/html" } }],
  ["POST", `/_cherrypick/${OID.slice(0, 40)}/main`, { headers: { ...FORM, ...SAME_ORIGIN } }],
  ["GET", "/actions", { headers: { Accept: "text/html" } }],
  ["GET", "/actions/run?workflow=ci.yml", { headers: { Accept: "text/html" } }],
  ["GET", "/actions/runs/1", { headers: { Accept: "text/html" } }],
  ["GET", "/actions/runs/1/jobs/0", { headers: { Accept: "text/html" } }],
  ["GET", "/actions/runs/1/jobs/0/logs"],
  ["GET", "/actions/runs/1/artifacts/result"],
  ["GET", "/actions/workflows/ci.yml/badge.svg"],
  ["POST", "/actions/runs/1/artifacts/result/delete", { headers: { ...FORM, ...SAME_ORIGIN } }],
  ["POST", "/actions/runs/1/cancel", { headers: { ...FORM, ...SAME_ORIGIN } }],
  ["POST", "/actions/disable?workflow=ci.yml", { headers: { ...FORM, ...SAME_ORIGIN } }],
  ["GET", "/-/migrate/status", { headers: { Accept: "text/html" } }],
  ["POST", "/-/migrate/cancel", { headers: { ...FORM, ...SAME_ORIGIN } }],
  ["POST", "/-/migrate/retry", { headers: { ...FORM, ...SAME_ORIGIN } }],
  ["GET", "/branches", { headers: { Accept: "text/html" } }],
  ["POST", "/branches/delete", { headers: { Accept: "text/html" } }],
  ["GET", "/branches/deleted", { headers: { Accept: "text/html" } }],
  ["POST", "/branches/restore", { headers: { Accept: "text/html" } }],
  ["GET", "/labels", { headers: { Accept: "text/html" } }],
  ["GET", "/labels/new", { headers: { Accept: "text/html" } }],
  ["POST", "/labels/new", { headers: { Accept: "text/html" } }],
  ["GET", "/labels/1/edit", { headers: { Accept: "text/html" } }],
  ["POST", "/labels/1/edit", { headers: { Accept: "text/html" } }],
  ["POST", "/labels/delete", { headers: { Accept: "text/html" } }],
  ["POST", "/labels/initialize", { headers: { Accept: "text/html" } }],
  ["GET", "/milestones", { headers: { Accept: "text/html" } }],
  ["GET", "/milestones/new", { headers: { Accept: "text/html" } }],
  ["POST", "/milestones/new", { headers: { Accept: "text/html" } }],
  ["GET", "/milestones/1/edit", { headers: { Accept: "text/html" } }],
  ["POST", "/milestones/1/edit", { headers: { Accept: "text/html" } }],
  ["POST", "/milestones/1/close", { headers: { Accept: "text/html" } }],
  ["POST", "/milestones/delete", { headers: { Accept: "text/html" } }],
  ["GET", "/milestone/1", { headers: { Accept: "text/html" } }],
  ["GET", "/tags", { headers: { Accept: "text/html" } }],
  ["GET", "/releases", { headers: { Accept: "text/html" } }],
  ["GET", "/releases/tag/v1", { headers: { Accept: "text/html" } }],
  ["GET", "/releases/new", { headers: { Accept: "text/html" } }],
  ["POST", "/releases/new", { headers: { Accept: "text/html" } }],
  ["GET", "/releases/edit/v1", { headers: { Accept: "text/html" } }],
  ["POST", "/releases/edit/v1", { headers: { Accept: "text/html" } }],
  ["POST", "/releases/delete", { headers: { Accept: "text/html" } }],
  ["GET", "/compare/main...topic", { headers: { Accept: "text/html" } }],
  ["GET", "/compare/main..a:b", { headers: { Accept: "text/html" } }],
  ["GET", "/pulls/new/topic", { headers: { Accept: "text/html" } }],
  ["GET", "/compare", { headers: { Accept: "text/html" } }],
  ["GET", "/releases/latest", { headers: { Accept: "text/html" } }],
  ["GET", "/stars", { headers: { Accept: "text/html" } }],
  ["GET", "/watchers", { headers: { Accept: "text/html" } }],
  ["GET", "/forks", { headers: { Accept: "text/html" } }],
  ["GET", "/activity", { headers: { Accept: "text/html" } }],
  ["GET", "/activity/yearly", { headers: { Accept: "text/html" } }],
  ["GET", "/activity/contributors", { headers: { Accept: "text/html" } }],
  ["GET", "/fork", { headers: { Accept: "text/html" } }],
  ["POST", "/fork", { headers: { Accept: "text/html" } }],
  ["POST", "/action/accept_transfer", { headers: { Accept: "text/html" } }],
  ["GET", "/packages", { headers: { Accept: "text/html" } }],
  ["POST", "/action/star", { headers: { Accept: "text/html" } }],
  ["GET", "/archive/main.zip"],
  ["HEAD", "/archive/main.tar.gz"],
  ["GET", ".rss"],
  ["HEAD", ".atom"],
  ["GET", "/releases.rss"],
  ["GET", "/tags.atom"],
  ["GET", "/rss/branch/main"],
  ["GET", "/atom/branch/main/a"],
  ["GET", "/pulls/1.diff"],
  ["GET", "/pulls/1.patch"],
  ["GET", "/raw/branch/main/a"],
  ["HEAD", "/raw/main/a"],
  ["GET", `/raw/commit/${"1".repeat(40)}/a`],
  ["GET", "/media/tag/v1/a"],
  ["GET", `/attachments/${UUID}`],
  ["GET", "/releases/download/v1/a"],
  ["GET", "/releases/latest/download/a"],
  ["DELETE", ""],
  ["PATCH", "/settings"],
];

describe("a repository that the caller may not see is the same as none", () => {
  const requests = OF_REPOSITORY.map(([method, rest, own = {}]) => [method, rest, own] as const);

  it.each(requests)("%s /{owner}/{repo}%s %j", async (method, rest, own) => {
    // Some areas are loaded with the first request for one of their pages.
    await visit(method, `/nobody/nothing${rest}`, own);
    await expectSame(
      things.repositories,
      ({ owner, name }: Names) => [name, owner],
      ({ owner, name }, sending) =>
        visit(method, `/${owner}/${name}${rest}`, {
          ...own,
          ...sending,
          headers: { ...own.headers, ...sending.headers },
        }),
    );
  });

  it.each([
    ["HEAD", {}],
    ["OPTIONS", {}],
    ["OPTIONS", { Origin: "https://app.example", "Access-Control-Request-Method": "GET" }],
    ["GET", { Origin: "https://app.example" }],
    ["GET", { "If-None-Match": '"x"' }],
    ["GET", { Range: "bytes=0-1" }],
    ["PUT", {}],
    ["POST", {}],
  ])("%s /api/v1/repos/{owner}/{repo} with %j", async (method, headers) => {
    await expectSame(
      things.repositories,
      ({ owner, name }: Names) => [name, owner],
      ({ owner, name }, sending) =>
        visit(method, `/api/v1/repos/${owner}/${name}`, {
          ...sending,
          headers: { ...headers, ...sending.headers },
        }),
      // The answer to a preflight is the same for every address.
      () => method === "OPTIONS" && "Origin" in headers,
    );
  });
});

/** Requests about an account. */
const OF_ACCOUNT: readonly (readonly [method: string, path: string])[] = [
  ["GET", "/{name}"],
  ["GET", "/{name}?tab=activity"],
  ["POST", "/{name}"],
  ["GET", "/{name}/-/packages"],
  ["GET", "/{name}/-/packages/generic/a"],
  ["GET", "/{name}/-/packages/generic/a/1.0.0"],
  ["GET", "/{name}/-/packages/generic/a/1.0.0/files/1"],
  ["GET", "/org/{name}/members"],
  ["GET", "/org/{name}/teams"],
  ["GET", "/org/{name}/teams/owners"],
  ["GET", "/{name}.rss"],
  ["GET", "/{name}.atom"],
  ["HEAD", "/{name}.rss"],
  ["GET", "/{name}.keys"],
  ["GET", "/{name}.png"],
  ["GET", "/avatars/{name}"],
  ["HEAD", "/api/v1/users/{name}"],
  ["HEAD", "/api/v1/orgs/{name}"],
  ["GET", "/api/packages/{name}/generic/a/1.0.0/a.txt"],
  ["PUT", "/api/packages/{name}/generic/a/1.0.0/a.txt"],
  ["DELETE", "/api/packages/{name}/generic/a/1.0.0"],
  ["GET", "/api/packages/{name}/npm/a"],
  ["PUT", "/api/packages/{name}/npm/a"],
  ["GET", "/api/packages/{name}/pypi/simple/"],
  ["POST", "/api/packages/{name}/pypi/"],
  ["GET", "/api/packages/{name}/cargo/config.json"],
  ["PUT", "/api/packages/{name}/cargo/api/v1/crates/new"],
  ["GET", "/api/packages/{name}/composer/packages.json"],
  ["PUT", "/api/packages/{name}/composer"],
  ["GET", "/api/packages/{name}/go/example.com/a/@v/list"],
  ["PUT", "/api/packages/{name}/go/upload"],
  ["GET", "/api/packages/{name}/helm/index.yaml"],
  ["POST", "/api/packages/{name}/helm/api/charts"],
  ["GET", "/api/packages/{name}/maven/org/a/1.0.0/a.jar"],
  ["PUT", "/api/packages/{name}/maven/org/a/1.0.0/a.jar"],
  ["GET", "/api/packages/{name}/nuget/index.json"],
  ["PUT", "/api/packages/{name}/nuget/"],
  ["GET", "/api/packages/{name}/rubygems/specs.4.8.gz"],
  ["POST", "/api/packages/{name}/rubygems/api/v1/gems"],
  ["GET", "/api/packages/{name}/debian/repository.key"],
  ["PUT", "/api/packages/{name}/debian/pool/main/stable/upload"],
  ["GET", "/v2/{name}/a/tags/list"],
  ["HEAD", "/v2/{name}/a/manifests/latest"],
  ["PUT", "/v2/{name}/a/manifests/latest"],
  ["DELETE", "/v2/{name}/a/manifests/latest"],
  ["POST", "/v2/{name}/a/blobs/uploads/"],
  ["GET", "/v2/{name}/a/blobs/sha256:0123456789abcdef"],
  ["GET", "/.well-known/webfinger?resource=acct:{name}@forge.example"],
];

describe("an account that the caller may not see is the same as none", () => {
  it.each(OF_ACCOUNT)("%s %s", async (method, path) => {
    await expectSame(
      [...things.users, ...things.organizations],
      (name: string) => [name],
      (name, sending) => visit(method, path.replace("{name}", name), sending),
      isAccountSeen,
    );
  });
});

describe("a file that the caller may not see is the same as none", () => {
  it("GET /attachments/{uuid}", async () => {
    const { owner } = things;
    const { uuid } = await makeAsset(
      await makeRelease(await make.repo(owner, { isPrivate: true })),
    );
    await expectSame(
      [{ what: "a file of a private repository", seenBy: owner, hidden: uuid, absent: UUID }],
      (name: string) => [name],
      (name, sending) => visit("GET", `/attachments/${name}`, sending),
    );
  });
});
