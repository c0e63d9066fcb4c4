import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { accessTokens, packages, packageVersions } from "../../../src/db/schema/index.ts";
import { type Answer, basic, visit } from "../../support/call.ts";
import { digestOf, manifestOf, OCI_MANIFEST, TestImage } from "../../support/container-images.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { visitSealing } from "../../support/sealing.ts";
import { doorsWith } from "../../support/service.ts";

let owner: TestUser;
let other: TestUser;

beforeAll(async () => {
  [owner, other] = await Promise.all([make.userWithPassword(), make.userWithPassword()]);
});

const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });

const getToken = (headers: Record<string, string> = {}): Promise<Answer> =>
  visitSealing("GET", "/v2/token?service=container_registry&scope=repository:x/y:pull", {
    headers,
  });

const codeOf = ({ body }: Answer): string => body.errors[0].code;

describe("the token endpoint", () => {
  it("is named by a challenge, for public images too", async () => {
    const answer = await visit("GET", "/v2/");
    expect([answer.status, codeOf(answer)]).toEqual([401, "UNAUTHORIZED"]);
    expect(answer.headers.get("WWW-Authenticate")).toBe(
      'Bearer realm="https://forge.example/v2/token",service="container_registry",scope="*"',
    );
    expect(answer.headers.get("Docker-Distribution-Api-Version")).toBe("registry/2.0");
    expect((await visit("POST", "/v2/token")).status).toBe(404);
  });

  it("gives a token for a password, for an access token, and for nobody", async () => {
    const image = new TestImage(owner, freshName("image"), owner);
    await image.push("v1");
    for (const [headers, status] of [
      [basic(owner.name, owner.password), 202],
      [basic(owner.name, owner.token), 202],
      [basic(owner.token, ""), 202],
      [{}, 401],
    ] as const) {
      const answer = await getToken(headers);
      expect(answer).toMatchObject({ status: 200, body: { expires_in: 3600 } });
      const { token } = answer.body;
      expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
      expect(await visitSealing("GET", "/v2/", { headers: bearer(token) })).toMatchObject({
        status: 200,
      });
      const read = await visitSealing("HEAD", `${image.path}/manifests/v1`, {
        headers: bearer(token),
      });
      expect(read.status).toBe(200);
      const begun = await visitSealing("POST", `${image.path}/blobs/uploads/`, {
        headers: bearer(token),
      });
      expect(begun.status).toBe(status);
    }
  });

  it.each([
    ["a wrong password", () => basic(owner.name, "wrong")],
    ["a token that is none", () => bearer("a.b.c")],
    ["an access token that is none", () => bearer("0123456789")],
  ])("refuses %s", async (_, headersOf) => {
    for (const path of ["/v2/token", "/v2/", "/v2/_catalog", `/v2/${owner.name}/x/tags/list`]) {
      const answer = await visitSealing("GET", path, { headers: headersOf() });
      expect([answer.status, codeOf(answer)]).toEqual([401, "UNAUTHORIZED"]);
    }
  });

  it("gives tokens that end with what they stand for, and can't be altered", async () => {
    const user = await make.user();
    const secret = await make.token(user);
    const { token } = (await getToken(basic(user.name, secret))).body as { token: string };
    const begin = (text: string) =>
      visitSealing("POST", `/v2/${user.name}/image/blobs/uploads/`, { headers: bearer(text) });
    expect((await begin(token)).status).toBe(202);
    const [header = "", payload = "", signature = ""] = token.split(".");
    const claims = JSON.parse(atob(payload)) as { credential: { userId: number } };
    claims.credential.userId = owner.id;
    const forged = btoa(JSON.stringify(claims)).replaceAll("=", "");
    expect((await begin(`${header}.${forged}.${signature}`)).status).toBe(401);
    const none = btoa('{"alg":"none"}').replaceAll("=", "");
    expect((await begin(`${none}.${payload}.`)).status).toBe(401);
    expect((await begin(`${none}.${payload}.x`)).status).toBe(401);
    const otherKey = doorsWith({ SEALING_KEYS: `test:${"B".repeat(43)}=` });
    const refused = await otherKey("POST", `/v2/${user.name}/image/blobs/uploads/`, {
      headers: bearer(token),
    });
    expect(refused.status).toBe(401);
    await db.delete(accessTokens).where(eq(accessTokens.userId, user.id));
    expect((await begin(token)).status).toBe(401);
  });

  it("gives an access token back where the service has no key, and takes no password", async () => {
    const { body } = await visit("GET", "/v2/token", { headers: basic(owner.name, owner.token) });
    expect(body.token).toBe(owner.token);
    const refused = await visit("GET", "/v2/token", {
      headers: basic(owner.name, owner.password),
    });
    expect([refused.status, codeOf(refused)]).toEqual([401, "UNAUTHORIZED"]);
    const anonymous = await visit("GET", "/v2/token");
    expect(anonymous.status).toBe(200);
    const headers = bearer(anonymous.body.token);
    expect((await visit("GET", "/v2/", { headers })).status).toBe(200);
    const begun = await visit("POST", `/v2/${owner.name}/image/blobs/uploads/`, { headers });
    expect(begun.status).toBe(401);
  });

  it("gives nobody a token where the service wants everybody to sign in", async () => {
    const closed = doorsWith({ REQUIRE_SIGNIN_VIEW: "true" });
    const answer = await closed("GET", "/v2/token");
    expect([answer.status, codeOf(answer)]).toEqual([401, "UNAUTHORIZED"]);
  });
});

describe("an image of a private owner", () => {
  /** Each route that reads or writes an image, with what its success is. */
  const ROUTES = (content: string, manifest: string): [string, string, number, string?][] => [
    ["GET", "manifests/v1", 200],
    ["HEAD", "manifests/v1", 200],
    ["GET", `manifests/${digestOf(manifest)}`, 200],
    ["GET", `blobs/${digestOf(content)}`, 200],
    ["HEAD", `blobs/${digestOf(content)}`, 200],
    ["GET", "tags/list", 200],
    ["GET", `referrers/${digestOf(manifest)}`, 200],
    ["POST", "blobs/uploads/", 202],
    ["POST", `blobs/uploads/?digest=${digestOf("new")}`, 201, "new"],
    ["PUT", "manifests/v1", 201, manifest],
    ["DELETE", `blobs/${digestOf("new")}`, 202],
    ["DELETE", "manifests/v1", 202],
  ];

  it("is the owner's alone, at every route", async () => {
    const secret = await make.user({ visibility: "private" });
    const content = freshName("secret");
    const image = new TestImage(secret, "app/secret", secret);
    const manifest = await image.push("v1", { layers: [content] });
    const seen = new TestImage(secret, "app/secret");
    const versions = () =>
      db
        .select()
        .from(packageVersions)
        .where(eq(packageVersions.ownerId, secret.id))
        .orderBy(packageVersions.id);
    const before = await versions();
    const scoped = await make.token(secret, { scopes: "read:repository" });
    const publicOnly = await make.token(secret, { scopes: "write:package,public-only" });
    const who: [string, Record<string, string>, number[]][] = [
      ["nobody", {}, [401]],
      ["another user", { Authorization: `token ${other.token}` }, [404]],
      ["a token of other scopes", { Authorization: `token ${scoped}` }, [401]],
      ["a token for public things", { Authorization: `token ${publicOnly}` }, [401, 403, 404]],
    ];
    for (const [method, path, , body] of ROUTES(content, manifest)) {
      for (const [name, headers, statuses] of who) {
        const answer = await seen.request(method, path, {
          headers: { ...headers, "Content-Type": OCI_MANIFEST },
          ...(body !== undefined && { body }),
        });
        expect(statuses, `${method} ${path} by ${name}`).toContain(answer.status);
        expect(method === "HEAD" ? "" : answer.body.errors?.[0]?.code).not.toBeUndefined();
      }
    }
    expect(await versions()).toEqual(before);
    for (const [method, path, status, body] of ROUTES(content, manifest)) {
      const answer = await image.request(method, path, {
        headers: { "Content-Type": OCI_MANIFEST },
        ...(body !== undefined && { body }),
      });
      expect(answer.status, `${method} ${path}`).toBe(status);
    }
  });

  it("is in nobody else's catalog", async () => {
    const name = freshName("catalog");
    const [open, limited, secret] = await Promise.all([
      make.user({ name: `${name}-a` }),
      make.user({ name: `${name}-b`, visibility: "limited" }),
      make.user({ name: `${name}-c`, visibility: "private" }),
    ]);
    for (const user of [open, limited, secret]) {
      await new TestImage(user, "web/app", user).push("v1");
      await new TestImage(user, "zoo", user).push("v1");
      await new TestImage(user, "uploaded", user).upload("only");
    }
    const list = async (headers: Record<string, string>): Promise<string[]> => {
      const found: string[] = [];
      let path: string | undefined = `/v2/_catalog?n=2&last=${name}/x`;
      for (; path && found.length < 10;) {
        const answer: Answer = await visitSealing("GET", path, { headers });
        expect(answer.status).toBe(200);
        found.push(...answer.body.repositories);
        path = /^<([^>]*)>; rel="next"$/.exec(answer.headers.get("Link") ?? "")?.[1];
      }
      return found.filter((image) => image.startsWith(name));
    };
    const of = (user: TestUser) => [`${user.name}/web/app`, `${user.name}/zoo`];
    const challenged = await visit("GET", "/v2/_catalog");
    expect([challenged.status, codeOf(challenged)]).toEqual([401, "UNAUTHORIZED"]);
    const anonymous = await getToken({});
    expect(await list(bearer(anonymous.body.token))).toEqual(of(open));
    expect(await list({ Authorization: `token ${other.token}` })).toEqual([
      ...of(open),
      ...of(limited),
    ]);
    expect(await list({ Authorization: `token ${secret.token}` })).toEqual([
      ...of(open),
      ...of(limited),
      ...of(secret),
    ]);
    const bound = await make.token(secret, { packages: [`${secret.name}/container/zoo`] });
    expect(await list({ Authorization: `token ${bound}` })).toEqual([`${secret.name}/zoo`]);
  });

  // ORAS sends its credential only when it is asked for it.
  it("is asked a credential for, as one that does not exist, and nobody's token shows neither", async () => {
    const name = freshName("hidden");
    const repo = await make.repo(owner, { visibility: "private", isPrivate: true });
    const image = new TestImage(owner, name, owner);
    const manifest = await image.push("v1");
    await db
      .update(packages)
      .set({ repoId: repo.id })
      .where(and(eq(packages.ownerId, owner.id), eq(packages.name, name)));
    const nobody = bearer((await getToken({})).body.token);
    const absent = freshName("absent");
    for (const path of [
      "manifests/v1",
      `manifests/${digestOf(manifest)}`,
      `blobs/${digestOf("layer")}`,
      "tags/list",
      `referrers/${digestOf(manifest)}`,
    ]) {
      for (const headers of [{}, nobody]) {
        const [hidden, none] = await Promise.all(
          [name, absent].map((each) =>
            visitSealing("GET", `/v2/${owner.name}/${each}/${path}`, { headers }),
          ),
        );
        const status =
          "Authorization" in headers ? (path.startsWith("referrers") ? 200 : 404) : 401;
        expect([path, hidden?.status]).toEqual([path, status]);
        expect(hidden?.body).toEqual(none?.body);
        expect(hidden?.headers.get("WWW-Authenticate")).toBe(none?.headers.get("WWW-Authenticate"));
      }
    }
  });

  it("is where its repository is seen, if it is linked to one", async () => {
    const name = freshName("linked");
    const image = new TestImage(owner, name, owner);
    await image.push("v1");
    const repo = await make.repo(owner, { visibility: "private", isPrivate: true });
    await db
      .update(packages)
      .set({ repoId: repo.id })
      .where(and(eq(packages.ownerId, owner.id), eq(packages.name, name)));
    const stranger = new TestImage(owner, name, other);
    expect((await stranger.get("manifests/v1")).status).toBe(404);
    expect((await stranger.get(`blobs/${digestOf("layer")}`)).status).toBe(404);
    const { body } = await visit("GET", "/v2/_catalog", {
      headers: { Authorization: `token ${other.token}` },
    });
    expect(body.repositories).not.toContain(`${owner.name}/${name}`);
    await make.collaborator(repo, other, 1);
    expect((await stranger.get("manifests/v1")).status).toBe(200);
    const published = await stranger.publish("v2", manifestOf("{}", ["layer"]));
    expect(published.status).toBe(401);
  });
});
