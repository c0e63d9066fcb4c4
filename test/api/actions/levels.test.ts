import { and, asc, eq, inArray, isNull, type SQL } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";

import {
  actionSecrets,
  actionVariables,
  type ActionSecret,
  type ActionVariable,
  auditEvents,
  runnerRegistrationTokens,
  runners,
} from "../../../src/db/schema/index.ts";
import { type LevelRow, makeRunner } from "../../support/action-values.ts";
import { db } from "../../support/db.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { SEALING_KEYS } from "../../support/sealing.ts";
import { serviceWith } from "../../support/service.ts";

const call = serviceWith({ SEALING_KEYS });

/** A level of secrets, variables and runners, as test data. */
interface Level {
  readonly path: string;
  readonly row: LevelRow;
  /** Another level of the same administrator. */
  readonly elsewhere: string;
  readonly admin: TestUser;
  /** Callers without permission, and the status that each receives. */
  readonly refused: readonly { who: TestUser | undefined; status: number }[];
  /** A token of the administrator that reaches less than the level. */
  readonly confined?: string;
}

const LEVELS: Readonly<Record<string, () => Promise<Level>>> = {
  repository: async () => {
    const admin = await make.user();
    const [repo, other] = [await make.repo(admin), await make.repo(admin)];
    const writer = await make.user();
    await make.collaborator(repo, writer, 2);
    return {
      path: `/repos/${admin.name}/${repo.name}/actions`,
      elsewhere: `/repos/${admin.name}/${other.name}/actions`,
      row: { repoId: repo.id },
      admin,
      refused: [
        { who: undefined, status: 401 },
        { who: writer, status: 403 },
        { who: await make.user(), status: 403 },
      ],
      confined: await make.token(admin, { repos: [other] }),
    };
  },
  organization: async () => {
    const admin = await make.user();
    const [org, other] = [await make.org([admin]), await make.org([admin])];
    const member = await make.user();
    await make.member(org, await make.team(org, { access: 3 }), member);
    return {
      path: `/orgs/${org.name}/actions`,
      elsewhere: `/orgs/${other.name}/actions`,
      row: { ownerId: org.id },
      admin,
      refused: [
        { who: undefined, status: 401 },
        { who: member, status: 403 },
        { who: await make.user(), status: 403 },
      ],
      confined: await make.token(admin, { repos: [await make.repo(org)] }),
    };
  },
  user: async () => {
    const admin = await make.user();
    return {
      path: "/user/actions",
      elsewhere: `/orgs/${(await make.org([admin])).name}/actions`,
      row: { ownerId: admin.id },
      admin,
      refused: [{ who: undefined, status: 401 }],
      confined: await make.token(admin, { scopes: "all,public-only" }),
    };
  },
  service: async () => {
    const admin = await make.admin();
    return {
      path: "/admin/actions",
      elsewhere: "/user/actions",
      row: {},
      admin,
      refused: [
        { who: undefined, status: 401 },
        { who: await make.user(), status: 403 },
      ],
    };
  },
};

let level: Level;
const freshValueName = () => freshName("n").replaceAll("-", "_");
const send = (method: string, below: string, json?: object, as: TestUser = level.admin) =>
  call(method, `${level.path}/${below}`, { as, ...(json && { json }) });

/** The status of a call by the confined token of the level; 404 where the level has none. */
const statusOfConfined = async (method: string, path: string, options = {}): Promise<number> =>
  level.confined === undefined
    ? 404
    : (await call(method, path, { token: level.confined, ...options })).status;

/** Proves what a caller whom the level refuses gets, for each of them. */
async function expectRefused(method: string, path: string, options = {}): Promise<void> {
  for (const { who, status } of level.refused) {
    expect((await call(method, path, { ...(who && { as: who }), ...options })).status).toBe(status);
  }
}

const isOf = (table: typeof actionSecrets | typeof actionVariables | typeof runners): SQL =>
  and(
    level.row.repoId ? eq(table.repoId, level.row.repoId) : isNull(table.repoId),
    level.row.ownerId ? eq(table.ownerId, level.row.ownerId) : isNull(table.ownerId),
  ) as SQL;
const secretsHere = (): Promise<ActionSecret[]> =>
  db.select().from(actionSecrets).where(isOf(actionSecrets));
const variablesHere = (): Promise<ActionVariable[]> =>
  db.select().from(actionVariables).where(isOf(actionVariables));
const runnersHere = () => db.select().from(runners).where(isOf(runners));

const SECRET_LEVELS = Object.entries(LEVELS).filter(([name]) => name !== "service");

describe.each(SECRET_LEVELS)("the secrets of a level: %s", (_, makeLevel) => {
  beforeEach(async () => {
    level = await makeLevel();
  });

  it("are created and updated, in any case of the name, and never shown", async () => {
    const created = await send("PUT", "secrets/deploy_key", { data: "s3cret", description: "d" });
    expect(created).toMatchObject({ status: 201, body: "" });
    expect((await send("PUT", "secrets/Deploy_Key", { data: "other" })).status).toBe(204);
    const listed = await send("GET", "secrets");
    expect(listed).toMatchObject({
      status: 200,
      body: [{ name: "DEPLOY_KEY", description: "d", created_at: expect.any(String) }],
    });
    expect(listed.headers.get("X-Total-Count")).toBe("1");
    expect(JSON.stringify(listed.body)).not.toContain("other");
    const [row] = await secretsHere();
    expect(row?.value).toMatch(/^1\.test\./);
  });

  it("are deleted in any case of the name", async () => {
    await send("PUT", "secrets/KEY", { data: "s" });
    expect(
      (await call("DELETE", `${level.elsewhere}/secrets/KEY`, { as: level.admin })).status,
    ).toBe(404);
    expect(await secretsHere()).toHaveLength(1);
    expect((await send("DELETE", "secrets/key")).status).toBe(204);
    expect(await secretsHere()).toEqual([]);
    expect((await send("DELETE", "secrets/key")).status).toBe(404);
  });

  it.each(["1A", "A-B", "GITHUB_TOKEN", "gitea_x", "ci", "Ä", "A".repeat(256)])(
    "have no name such as %s",
    async (name) => {
      expect(await send("PUT", `secrets/${encodeURIComponent(name)}`, { data: "s" })).toMatchObject(
        {
          status: 400,
          body: { message: "invalid variable or secret name" },
        },
      );
      expect(await secretsHere()).toEqual([]);
    },
  );

  it.each([{}, { data: "" }, { data: "a\0b" }, { data: "\ud800" }, { data: "ä".repeat(40_000) }])(
    "have no value that is missing, empty, no text or too long (%#)",
    async (json) => {
      expect((await send("PUT", "secrets/KEY", json)).status).toBe(422);
      expect(await secretsHere()).toEqual([]);
    },
  );

  it("are for those alone who administer the level, and for no confined token", async () => {
    await send("PUT", "secrets/KEY", { data: "s" });
    for (const [method, below] of [
      ["GET", ""],
      ["PUT", "/NEW"],
      ["DELETE", "/KEY"],
    ] as const) {
      const json = method === "PUT" ? { json: { data: "s" } } : {};
      const path = `${level.path}/secrets${below}`;
      await expectRefused(method, path, json);
      expect([403, 404]).toContain(await statusOfConfined(method, path, json));
    }
    expect((await secretsHere()).map(({ name }) => name)).toEqual(["KEY"]);
  });
});

it("no secret is stored without a key to seal it", async () => {
  const user = await make.user();
  const without = serviceWith({});
  const sent = { as: user, json: { data: "s" } };
  expect((await without("PUT", "/user/actions/secrets/KEY", sent)).status).toBe(403);
  expect(await db.$count(actionSecrets, eq(actionSecrets.ownerId, user.id))).toBe(0);
});

describe.each(Object.entries(LEVELS))("the variables of a level: %s", (_, makeLevel) => {
  beforeEach(async () => {
    level = await makeLevel();
  });

  it("are created, read, renamed and deleted", async () => {
    const [name, newName] = [freshValueName(), freshValueName().toUpperCase()];
    const one = `variables/${name}`;
    const json = { value: "eu", description: "d" };
    expect(await send("POST", one, json)).toMatchObject({ status: 201, body: "" });
    const shown = {
      owner_id: level.row.ownerId ?? 0,
      repo_id: level.row.repoId ?? 0,
      name: name.toUpperCase(),
      data: "eu",
      description: "d",
    };
    expect(await send("GET", one)).toMatchObject({ status: 200, body: shown });
    expect((await send("GET", "variables?limit=50")).body).toContainEqual(shown);
    expect((await send("PUT", one, { value: "us", name: newName })).status).toBe(204);
    expect((await send("GET", one)).status).toBe(404);
    expect((await send("GET", `variables/${newName}`)).body).toEqual({
      ...shown,
      name: newName,
      data: "us",
    });
    expect((await send("DELETE", `variables/${newName.toLowerCase()}`)).status).toBe(204);
    expect((await send("DELETE", `variables/${newName}`)).status).toBe(404);
    const entries = await db
      .select()
      .from(auditEvents)
      .where(inArray(auditEvents.target, [name.toUpperCase(), newName]))
      .orderBy(asc(auditEvents.id));
    expect(entries).toMatchObject([
      { kind: "variable.created" },
      { kind: "variable.edited", details: { changed: ["name", "value"] } },
      { kind: "variable.deleted" },
    ]);
  });

  it("have each name once, in any case", async () => {
    const [first, second] = [freshValueName(), freshValueName()];
    await send("POST", `variables/${first}`, { value: "1" });
    await send("POST", `variables/${second}`, { value: "2" });
    const again = await send("POST", `variables/${first.toUpperCase()}`, { value: "3" });
    expect(again).toMatchObject({
      status: 409,
      body: { message: "variable name already exists" },
    });
    const renamed = await send("PUT", `variables/${second}`, { value: "2", name: first });
    expect(renamed.status).toBe(409);
    expect(
      (await variablesHere())
        .filter(({ name }) => [first, second].includes(name.toLowerCase()))
        .map(({ value }) => value),
    ).toEqual(["1", "2"]);
    for (const name of [first, second]) await send("DELETE", `variables/${name}`);
  });

  it("are refused with a bad name or value", async () => {
    const before = await variablesHere();
    expect((await send("POST", "variables/1A", { value: "1" })).status).toBe(400);
    expect((await send("POST", "variables/GITHUB_A", { value: "1" })).status).toBe(400);
    expect((await send("POST", `variables/${freshValueName()}`, { value: "" })).status).toBe(422);
    expect(await variablesHere()).toEqual(before);
  });

  it("are for those alone who administer the level, and for no confined token", async () => {
    const name = freshValueName();
    await send("POST", `variables/${name}`, { value: "1" });
    const before = await variablesHere();
    const to = `${level.path}/variables`;
    const requests = [
      ["GET", to],
      ["GET", `${to}/${name}`],
      ["POST", `${to}/NEW`],
      ["PUT", `${to}/${name}`],
      ["DELETE", `${to}/${name}`],
    ] as const;
    for (const [method, path] of requests) {
      const json = method === "POST" || method === "PUT" ? { json: { value: "x" } } : {};
      await expectRefused(method, path, json);
      expect([403, 404]).toContain(await statusOfConfined(method, path, json));
    }
    for (const method of ["GET", "PUT", "DELETE"]) {
      const elsewhere = `${level.elsewhere}/variables/${name}`;
      const json = method === "PUT" ? { json: { value: "x" } } : {};
      expect((await call(method, elsewhere, { as: level.admin, ...json })).status).toBe(404);
    }
    expect(await variablesHere()).toEqual(before);
    await send("DELETE", `variables/${name}`);
  });
});

describe.each(Object.entries(LEVELS))("the runners of a level: %s", (name, makeLevel) => {
  beforeEach(async () => {
    level = await makeLevel();
  });

  it("are listed and found with their state", async () => {
    const online = await makeRunner(level.row, { lastOnlineAt: Date.now(), labels: ["a", "b"] });
    const offline = await makeRunner(level.row);
    const shown = {
      id: online.id,
      name: online.name,
      status: "online",
      busy: false,
      ephemeral: false,
      disabled: false,
      labels: [
        { id: 0, name: "a", type: "custom" },
        { id: 1, name: "b", type: "custom" },
      ],
    };
    expect(await send("GET", `runners/${online.id}`)).toMatchObject({ status: 200, body: shown });
    expect((await send("GET", `runners/${offline.id}`)).body).toMatchObject({ status: "offline" });
    // The service has those of other tests, too, of which these are the last two.
    const { total_count: total } = (await send("GET", "runners?limit=1")).body;
    const { body, headers } = await send("GET", `runners?limit=1&page=${total - 1}`);
    expect(body.runners).toContainEqual(shown);
    expect(headers.get("X-Total-Count")).toBe(String(body.total_count));
    // Administrators of the service see the runners of all levels.
    expect(body.total_count).toBe(
      name === "service" ? await db.$count(runners, isNull(runners.endedAt)) : 2,
    );
  });

  it("are disabled, enabled and deleted, by administrators of the level alone", async () => {
    const { id } = await makeRunner(level.row);
    const before = await runnersHere();
    const one = `${level.path}/runners/${id}`;
    for (const [method, options] of [
      ["GET", {}],
      ["PATCH", { json: { disabled: true } }],
      ["DELETE", {}],
    ] as const) {
      await expectRefused(method, one, options);
      expect([403, 404]).toContain(await statusOfConfined(method, one, options));
    }
    const elsewhere = `${level.elsewhere}/runners/${id}`;
    expect((await call("DELETE", elsewhere, { as: level.admin })).status).toBe(404);
    expect(await runnersHere()).toEqual(before);

    expect((await send("PATCH", `runners/${id}`, { disabled: true })).body).toMatchObject({
      disabled: true,
    });
    expect((await send("PATCH", `runners/${id}`, { disabled: false })).body).toMatchObject({
      disabled: false,
    });
    expect((await send("DELETE", `runners/${id}`)).status).toBe(204);
    expect((await send("GET", `runners/${id}`)).status).toBe(404);
  });

  it("register with one token, which is reset, and which nobody reads who only reads", async () => {
    const at = `${level.path}/runners/registration-token`;
    const toRead = name === "service" ? "/admin/runners/registration-token" : at;
    const read = async (method: string, path: string) => {
      const { status, body } = await call(method, path, { as: level.admin });
      expect(status).toBe(200);
      expect(body.token).toMatch(/^[0-9a-f]{40}$/);
      return String(body.token);
    };
    const token = await read("GET", toRead);
    expect(await read("POST", at)).toBe(token);
    expect((await call("DELETE", at, { as: level.admin })).status).toBe(204);
    const fresh = await read("GET", toRead);
    expect(fresh).not.toBe(token);

    const before = await db.select().from(runnerRegistrationTokens);
    const reader = await make.token(level.admin, {
      scopes: "read:repository,read:organization,read:user,read:admin",
    });
    expect((await call("GET", toRead, { token: reader })).status).toBe(403);
    await expectRefused("GET", toRead);
    await expectRefused("DELETE", at);
    expect([403, 404]).toContain(await statusOfConfined("POST", at));
    expect(await db.select().from(runnerRegistrationTokens)).toEqual(before);
  });
});

it("administrators of the service find the runners of all levels", async () => {
  const [admin, user] = [await make.admin(), await make.user()];
  const { id } = await makeRunner({ ownerId: user.id });
  expect((await call("GET", `/admin/actions/runners/${id}`, { as: admin })).status).toBe(200);
  expect((await call("GET", `/user/actions/runners/${id}`, { as: admin })).status).toBe(404);
});
