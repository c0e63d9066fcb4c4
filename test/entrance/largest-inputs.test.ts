import { createHash } from "node:crypto";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { issues, packageVersions, repositories } from "../../src/db/schema/index.ts";
import { makeCrate, frame } from "../registries/cargo/crates.ts";
import { makePublication } from "../registries/npm/documents.ts";
import { formOf, makeWheel, metadataOf } from "../registries/pypi/distributions.ts";
import { makeTarGz, makeZip } from "../support/archives.ts";
import { SAME_ORIGIN } from "../support/browser.ts";
import type { Answer, Sending } from "../support/call.ts";
import { db } from "../support/db.ts";
import { makeControl, makeDeb } from "../support/debs.ts";
import { gemspecOf, makeGem } from "../support/gems.ts";
import { makeIssue } from "../support/issues.ts";
import { askBatch } from "../support/large-files.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { nuspecOf } from "../support/nupkgs.ts";
import { SETTINGS } from "../support/published-packages.ts";
import { makeCommit, pushBody, refsOf } from "../support/push.ts";
import { makeRelease } from "../support/releases.ts";
import { doorsWith } from "../support/service.ts";

// Each door takes its largest input, and refuses one that is a byte, or an item, larger.

const KIB = 1024;
const MIB = 1024 * KIB;

/** The caller, with a repository of their own. */
interface Scene {
  readonly owner: TestUser;
  readonly repo: TestRepo;
  /** The path of the repository in the API. */
  readonly own: string;
}

type Visit = ReturnType<typeof doorsWith>;

interface Door {
  /** The most bytes or items. */
  readonly max: number;
  /** Settings of the service, which make its bounds small. */
  readonly vars?: Record<string, string>;
  /** Sends so many bytes or items. */
  readonly send: (scene: Scene, size: number, visit: Visit) => Promise<Answer>;
  /** The answer to the largest input, if it is no success. */
  readonly status?: number;
  /** The answer to a larger one. */
  readonly refusal?: number;
  readonly message: RegExp;
  /** What the scene has, which a refusal does not change. */
  readonly listWritten?: (scene: Scene) => Promise<unknown>;
}

const encode = (text: string) => new TextEncoder().encode(text);

/** A text of so many bytes: one with what stands between its two parts repeated. */
const padTo = (bytes: number, head: string, tail = "", fill = "x"): string =>
  head + fill.repeat(bytes - encode(head + tail).length) + tail;

const listRepositories = ({ owner }: Scene) =>
  db
    .select({ name: repositories.name })
    .from(repositories)
    .where(eq(repositories.ownerId, owner.id));

const listIssues = ({ repo }: Scene) =>
  db.select({ title: issues.title }).from(issues).where(eq(issues.repoId, repo.id));

const listVersions = ({ owner }: Scene) =>
  db
    .select({ version: packageVersions.version })
    .from(packageVersions)
    .where(eq(packageVersions.ownerId, owner.id));

const sendJson = ({ owner }: Scene, visit: Visit, path: string, body: string) =>
  visit("POST", `/api/v1${path}`, {
    as: owner,
    headers: { "Content-Type": "application/json" },
    body,
  });

const TOO_LARGE = { refusal: 413, message: /larger than|more than|too large|at most/ };

/** Bytes that don't compress. */
const noise = (count: number): Uint8Array =>
  Buffer.concat(
    Array.from({ length: Math.ceil(count / 64) }, (_, at) =>
      createHash("sha512").update(`${at}`).digest(),
    ),
  ).subarray(0, count);

/** A push of so many bytes that don't compress, and of one more, which its pack has, too. */
const [PUSHED, LARGER] = [3000, 3001].map((count) => makeCommit("A push", noise(count)));
const PUSHED_BYTES = PUSHED?.pack.length ?? 0;

const DOORS: Readonly<Record<string, Door>> = {
  "a JSON body": {
    max: 2 * KIB,
    vars: { JSON_BODY_MAX_BYTES: `${2 * KIB}` },
    send: (scene, size, visit) =>
      sendJson(scene, visit, "/user/repos", padTo(size, '{"name":"largest"', "}", " ")),
    listWritten: listRepositories,
    ...TOO_LARGE,
  },
  "the depth of a JSON body": {
    max: 32,
    send: (scene, size, visit) =>
      sendJson(
        scene,
        visit,
        `${scene.own}/issues`,
        `{"title":"a","more":${"[".repeat(size - 1)}${"]".repeat(size - 1)}}`,
      ),
    listWritten: listIssues,
    refusal: 422,
    message: /levels of nesting/,
  },
  "a body with contents of files": {
    max: 4 * KIB,
    vars: { CONTENTS_BODY_MAX_BYTES: `${4 * KIB}` },
    send: (scene, size, visit) =>
      sendJson(
        scene,
        visit,
        `${scene.own}/contents/a`,
        padTo(size, '{"message":"a","content":"YQ=="', "}", " "),
      ),
    listWritten: ({ repo }) => refsOf(repo),
    ...TOO_LARGE,
  },
  "a text to render": {
    max: 2 * KIB,
    vars: { MARKUP_MAX_BYTES: `${2 * KIB}` },
    send: ({ owner }, size, visit) =>
      visit("POST", "/api/v1/markdown/raw", {
        as: owner,
        headers: { "Content-Type": "text/plain" },
        body: padTo(size, "a "),
      }),
    ...TOO_LARGE,
  },
  "a file of an issue": {
    max: MIB,
    vars: { ATTACHMENT_MAX_SIZE: "1" },
    send: async ({ owner, repo, own }, size, visit) => {
      const { number } = await makeIssue(repo);
      const body = new FormData();
      body.set("attachment", new File([new Uint8Array(size)], "a.log"));
      return visit("POST", `/api/v1${own}/issues/${number}/assets`, { as: owner, body });
    },
    ...TOO_LARGE,
  },
  "a file of a release": {
    max: MIB,
    vars: { ATTACHMENT_MAX_SIZE: "1" },
    send: async ({ owner, repo, own }, size, visit) => {
      const { id } = await makeRelease(repo);
      return visit("POST", `/api/v1${own}/releases/${id}/assets?name=a.bin`, {
        as: owner,
        headers: { "Content-Type": "application/octet-stream" },
        body: new Uint8Array(size),
      });
    },
    ...TOO_LARGE,
  },
  // A larger one is no template.
  "a template of issues": {
    max: 64 * KIB,
    send: async ({ owner, own }, size, visit) => {
      const content = btoa(padTo(size, "---\nname: Bug\nabout: A bug\n---\n"));
      const path = `/api/v1${own}/contents/.gitea/ISSUE_TEMPLATE/of-${size}.md`;
      await visit("POST", path, { as: owner, json: { message: "Add", content } });
      return visit("GET", `/api/v1${own}/issue_templates`, { as: owner });
    },
    refusal: 200,
    message: /^\[\]$/,
  },
  "a form of a browser": {
    max: 128 * KIB,
    send: (_, size, visit) =>
      visit("POST", "/user/login", {
        headers: { ...SAME_ORIGIN, "Content-Type": "application/x-www-form-urlencoded" },
        body: padTo(size, "user_name=nobody&password="),
      }),
    status: 403,
    ...TOO_LARGE,
  },
  "a request of an OAuth client": {
    max: 16 * KIB,
    send: (_, size, visit) =>
      visit("POST", "/login/oauth/access_token", {
        headers: { "Content-Type": "application/x-www-form-urlencoded" },
        body: padTo(size, "grant_type=authorization_code&code="),
      }),
    status: 400,
    refusal: 400,
    message: /too large/,
  },
  "the registration of an OAuth client": {
    max: 16 * KIB,
    send: (_, size, visit) =>
      visit("POST", "/login/oauth/register", {
        headers: { "Content-Type": "application/json" },
        body: padTo(size, '{"redirect_uris":["https://app.example/"],"client_uri":"', '"}'),
      }),
    status: 201,
    refusal: 400,
    message: /too large/,
  },
  "a credential": {
    max: 1024,
    send: (_, size, visit) =>
      visit("GET", "/api/v1/version", { headers: { Authorization: `token ${"f".repeat(size)}` } }),
    status: 401,
    refusal: 401,
    message: /too long/,
  },
  "the bytes of a push": {
    max: PUSHED_BYTES,
    vars: { PUSH_MAX_BYTES: `${PUSHED_BYTES}` },
    send: (scene, size, visit) => {
      const { oid, pack } = (size === PUSHED_BYTES ? PUSHED : LARGER) ?? makeCommit("");
      return receive(scene, visit, pushBody([{ ref: "refs/heads/main", new: oid }], { pack }));
    },
    refusal: 200,
    message: /unpack a push may have \d+ bytes at most/,
    listWritten: ({ repo }) => refsOf(repo),
  },
  "the refs of a push": {
    max: 3,
    vars: { PUSH_MAX_REFS: "3" },
    send: async ({ owner, repo }, size, visit) => {
      const { oid, pack } = makeCommit("refs");
      const commands = Array.from({ length: size }, (_, at) => ({
        ref: `refs/heads/b${at}`,
        new: oid,
      }));
      return receive({ owner, repo }, visit, pushBody(commands, { pack }));
    },
    refusal: 200,
    message: /unpack a push may name 3 refs at most/,
    listWritten: ({ repo }) => refsOf(repo),
  },
  "the files of a batch of LFS": {
    max: 2,
    vars: { LFS_MAX_BATCH_SIZE: "2" },
    send: ({ owner, repo }, size, visit) => {
      const objects = Array.from({ length: size }, (_, at) => ({
        oid: `${at}`.repeat(64),
        size: 1,
      }));
      return askBatch(repo, "upload", objects, { as: owner }, visit);
    },
    ...TOO_LARGE,
  },
  "the metadata of a crate": {
    max: 2 * MIB,
    send: async ({ owner }, size, visit) => {
      const crate = await makeCrate("largest", "1.0.0");
      const json = padTo(size, JSON.stringify(crate.json).slice(0, -1), "}", " ");
      return visit("PUT", `/api/packages/${owner.name}/cargo/api/v1/crates/new`, {
        as: owner,
        body: frame({ ...crate, json }),
      });
    },
    listWritten: listVersions,
    ...TOO_LARGE,
  },
  "the go.mod of a module": {
    max: 512 * KIB,
    send: ({ owner }, size, visit) =>
      visit("PUT", `/api/packages/${owner.name}/go/upload`, {
        as: owner,
        body: makeZip([
          {
            path: "example.com/a@v1.0.0/go.mod",
            content: padTo(size, "module example.com/a\n// "),
          },
        ]),
      }),
    listWritten: listVersions,
    ...TOO_LARGE,
  },
  "the Chart.yaml of a chart": {
    max: 256 * KIB,
    send: async ({ owner }, size, visit) =>
      visit("POST", `/api/packages/${owner.name}/helm/api/charts`, {
        as: owner,
        body: await makeTarGz([
          {
            path: "a/Chart.yaml",
            content: padTo(size, "apiVersion: v2\nname: a\nversion: 1.0.0\n# "),
          },
        ]),
      }),
    listWritten: listVersions,
    ...TOO_LARGE,
  },
  "the POM of an artifact": {
    max: MIB,
    send: ({ owner }, size, visit) =>
      visit("PUT", `/api/packages/${owner.name}/maven/org/example/a/1.0/a-1.0.pom`, {
        as: owner,
        body: padTo(
          size,
          "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><!-- ",
          " --><artifactId>a</artifactId><version>1.0</version></project>",
        ),
      }),
    listWritten: listVersions,
    ...TOO_LARGE,
  },
  "the manifest of a Composer package": {
    max: MIB,
    send: ({ owner }, size, visit) =>
      visit("PUT", `/api/packages/${owner.name}/composer/`, {
        as: owner,
        body: makeZip([
          {
            path: "composer.json",
            content: padTo(size, '{"name":"acme/a","version":"1.0.0"', "}", " "),
          },
        ]),
      }),
    listWritten: listVersions,
    ...TOO_LARGE,
  },
  "the manifest of a NuGet package": {
    max: MIB,
    send: ({ owner }, size, visit) =>
      visit("PUT", `/api/packages/${owner.name}/nuget/`, {
        as: owner,
        body: makeZip([
          { path: "A.nuspec", content: padTo(size, `${nuspecOf("A", "1.0.0")}<!-- `, " -->") },
        ]),
      }),
    listWritten: listVersions,
    ...TOO_LARGE,
  },
  "the specification of a gem": {
    max: MIB,
    send: async ({ owner }, size, visit) =>
      visit("POST", `/api/packages/${owner.name}/rubygems/api/v1/gems`, {
        as: owner,
        body: await makeGem("a", "1.0.0", {
          specification: padTo(size, `${gemspecOf("a", "1.0.0", "ruby", "dependencies: []\n")}# `),
        }),
      }),
    listWritten: listVersions,
    ...TOO_LARGE,
  },
  "the metadata of a wheel": {
    max: 512 * KIB,
    send: ({ owner }, size, visit) => {
      const content = padTo(size, metadataOf("a", "1.0.0"));
      const entries = [{ path: "a-1.0.0.dist-info/METADATA", content }];
      return visit("POST", `/api/packages/${owner.name}/pypi/`, {
        as: owner,
        body: formOf(makeWheel("a", "1.0.0", { entries })),
      });
    },
    listWritten: listVersions,
    ...TOO_LARGE,
  },
  "the control file of a Debian package": {
    max: 64 * KIB,
    send: async ({ owner }, size, visit) =>
      visit("PUT", `/api/packages/${owner.name}/debian/pool/stable/main/upload`, {
        as: owner,
        body: await makeDeb(padTo(size, `${makeControl({ Package: "largest" })}X-Text: `, "\n")),
      }),
    listWritten: listVersions,
    ...TOO_LARGE,
  },
  "the package.json of an npm package": {
    max: MIB,
    send: async ({ owner }, size, visit) => {
      const content = padTo(size, '{"name":"largest","version":"1.0.0"', "}", " ");
      const tarball = await makeTarGz([{ path: "package/package.json", content }]);
      return visit("PUT", `/api/packages/${owner.name}/npm/largest`, {
        as: owner,
        json: await makePublication("largest", "1.0.0", { tarball }),
      });
    },
    listWritten: listVersions,
    ...TOO_LARGE,
  },
  "a manifest of an image": {
    max: 10 * MIB,
    send: ({ owner }, size, visit) =>
      visit("PUT", `/v2/${owner.name}/largest/manifests/v1`, {
        as: owner,
        headers: { "Content-Type": "application/vnd.oci.image.index.v1+json" },
        body: padTo(
          size,
          '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]',
          "}",
          " ",
        ),
      }),
    listWritten: listVersions,
    refusal: 413,
    message: /SIZE_INVALID/,
  },
};

const receive = (
  { owner, repo }: Pick<Scene, "owner" | "repo">,
  visit: Visit,
  body: Sending["body"],
) =>
  visit("POST", `/${repo.owner}/${repo.name}.git/git-receive-pack`, {
    as: owner,
    headers: { "Content-Type": "application/x-git-receive-pack-request" },
    ...(body !== undefined && { body }),
  });

async function makeScene(): Promise<Scene> {
  const owner = await make.user();
  const repo = await make.repo(owner);
  return { owner, repo, own: `/repos/${repo.owner}/${repo.name}` };
}

const textOf = ({ body }: Answer): string =>
  typeof body === "string" ? body : JSON.stringify(body);

describe("the largest input", () => {
  it.each(Object.entries(DOORS))(
    "is taken, and a larger one refused with nothing written: %s",
    { timeout: 120_000 },
    async (_, { max, vars = {}, send, status, refusal, message, listWritten }) => {
      const visit = doorsWith({ ...SETTINGS, ...vars });
      const scene = await makeScene();
      const before = await listWritten?.(scene);
      const refused = await send(scene, max + 1, visit);
      expect([refused.status, textOf(refused)]).toEqual([refusal, expect.stringMatching(message)]);
      expect(await listWritten?.(scene)).toEqual(before);

      const taken = await send(scene, max, visit);
      expect(textOf(taken)).not.toMatch(message);
      expect(taken.status, textOf(taken)).toBe(status ?? Math.min(taken.status, 299));
      const isWritten = JSON.stringify(await listWritten?.(scene)) !== JSON.stringify(before);
      expect(isWritten).toBe(listWritten !== undefined);
    },
  );
});
