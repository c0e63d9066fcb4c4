import { beforeAll, describe, expect, it } from "vitest";

import { accessTokens } from "../../src/db/schema/index.ts";
import { type Answer, call } from "../support/call.ts";
import { db } from "../support/db.ts";
import {
  casesOf,
  type HiddenCase,
  type HiddenThings,
  isAccountSeen,
  makeHiddenThings,
} from "../support/hidden.ts";
import { fillPath, type Operation } from "../support/operations.ts";
import { byId, isRead, sampled, type SampledOperation } from "../support/samples/gather.ts";
import { requestIn } from "../support/samples/request.ts";
import { World } from "../support/samples/world.ts";
import { traced } from "../support/trace.ts";
import { TAKES_ALL } from "../support/sample.ts";

// SECURITY: what a caller may not see is the same as what does not exist: by status, headers, body,
// and by the work that the service does, which the time of an answer shows.

let things: HiddenThings;
beforeAll(async () => {
  things = await makeHiddenThings();
  // The first request to a host parses its address.
  await call("GET", "/version");
});

type Values = Readonly<Record<string, string | number>>;

/** Values of the parameters of a path that name nothing special. */
const plainValues = ({ parameters }: Operation): Values =>
  Object.fromEntries(
    parameters
      .filter((each) => each.in === "path")
      .map(({ name, schema: { type, enum: [word = "main"] = [] } }) => [
        name,
        type === "integer" ? 1 : (word as string),
      ]),
  );

/** Requires that an operation shows no caller which of two names exists. */
async function expectSame(
  operation: Operation,
  { pair, caller, sending }: HiddenCase<Values>,
  values: Values,
) {
  const ask = (names: Values) =>
    traced(
      () =>
        call(operation.method, fillPath(operation.path, { ...values, ...names }), {
          ...sending,
          ...(operation.body && { json: {} }),
        }),
      Object.values(names).map(String),
    );
  const hidden = await ask(pair.hidden);
  expect(hidden.headers, caller).not.toHaveProperty("x-d1-bookmark");
  expect(hidden, `${pair.what}, ${caller}`).toEqual(await ask(pair.absent));
  return hidden;
}

describe("a repository that the caller may not see", () => {
  it("is seen by its owner, or leads to its present name", async () => {
    for (const { what, seenBy, hidden } of things.repositories) {
      const { status } = await call("GET", `/repos/${hidden.owner}/${hidden.name}`, { as: seenBy });
      expect(status, what).toBe(
        what.includes("former name of a private user") ? 307 : what.includes("former") ? 301 : 200,
      );
    }
  });

  const inRepository = sampled.filter(({ path }) => path.includes("{owner}/{repo}"));

  it.each(byId(inRepository))("is the same as none: %s", async (id, operation) => {
    const pairs = things.repositories.map(({ hidden, absent, ...rest }) => ({
      ...rest,
      hidden: { owner: hidden.owner, repo: hidden.name },
      absent: { owner: absent.owner, repo: absent.name },
    }));
    const turn = inRepository.findIndex((each) => each.id === id);
    for (const each of casesOf(things.callers, pairs, turn)) {
      const { status, headers, body } = await expectSame(operation, each, plainValues(operation));
      // The administration of the site is refused to others before any repository is looked for.
      if (each.caller !== "a stranger" || operation.path.startsWith("/admin/")) continue;
      expect([status, body, headers["x-edgeforge-reason"]]).toEqual([404, "", "not-found"]);
    }
  });
});

describe("an account that the caller may not see", () => {
  it("is seen by those who may, or leads to its present name", async () => {
    for (const { what, seenBy, hidden } of [...things.users, ...things.organizations]) {
      const { status } = await call("GET", `/users/${hidden}`, { as: seenBy });
      expect(status, what).toBe(what.includes("former") ? 307 : 200);
    }
  });

  const FIRST = /^\/(?:users|orgs|org|packages|admin\/users|user\/(?:following|blocks))\/\{(\w+)\}/;
  const ofAccount = sampled.filter(({ path }) => FIRST.test(path));

  it.each(byId(ofAccount))("is the same as none: %s", async (id, operation) => {
    const parameter = FIRST.exec(operation.path)?.[1] ?? "";
    const { users, organizations } = things;
    const named = parameter === "org" ? [...organizations, ...users] : [...users, ...organizations];
    const pairs = named.map(({ what, seenBy, hidden, absent }) => ({
      what,
      seenBy,
      hidden: { [parameter]: hidden },
      absent: { [parameter]: absent },
    }));
    const turn = ofAccount.findIndex((each) => each.id === id);
    const cases = casesOf(things.callers, pairs, turn).filter((each) => !isAccountSeen(each));
    expect(cases.length).toBeGreaterThan(0);
    for (const each of cases) await expectSame(operation, each, plainValues(operation));
  });
});

/** The request of a caller who may do what the operation does, to what is theirs. */
async function makeOwnRequest(operation: SampledOperation) {
  const { caller, values, path, content } = await requestIn(
    isRead(operation) ? own : new World(),
    operation,
  );
  await db.update(accessTokens).set({ lastUsedAt: Date.now() + 3_600_000 });
  const [pathname = "", search] = path.split("?");
  const query = Object.fromEntries(new URLSearchParams(search));
  return { caller, values, pathname, query, content };
}

/** What belongs to the caller, and what belongs to somebody else, who hides it. */
const own = new World();
const foreign = new World({ repo: { isPrivate: true }, org: { visibility: "private" } });

/** The administrators of the site see everything. */
const isForUsers = ({ path }: Operation): boolean => !path.startsWith("/admin/");

const ABSENT_ID = 987_654_321;

describe("the id of something that the caller may not see", () => {
  const idsOf = ({ parameters }: Operation): string[] =>
    parameters
      .filter(
        ({ in: at, name }) => at === "path" && /^(?:id|delivery_id|attachment_id)$/.test(name),
      )
      .map(({ name }) => name);
  const withIds = sampled.filter((each) => isForUsers(each) && idsOf(each).length > 0);

  /**
   * The contract says 403 for a key of somebody else: an id reveals that there is a key, and
   * nothing of it.
   */
  const SAYS_FORBIDDEN = new Set(["userCurrentDeleteKey", "userCurrentDeleteGPGKey"]);
  const compared = withIds.filter(({ id }) => !SAYS_FORBIDDEN.has(id));

  it.each(byId(compared))("is the same as one of nothing: %s", async (_, operation) => {
    const { caller, values, query, content } = await makeOwnRequest(operation);
    const theirs = await requestIn(foreign, operation);
    for (const id of idsOf(operation)) {
      expect(theirs.values[id]).not.toBe(values[id]);
      const ask = (value: number) => {
        const path = fillPath(operation.path, { ...values, [id]: value });
        const address = `${path}?${new URLSearchParams(query)}`;
        return traced(
          () => call(operation.method, address, { as: caller, ...content }),
          // Numbers of few digits are parts of others.
          [`label_id: ${value}]`],
        );
      };
      // The first of them may keep what the service reads of the caller's own repository.
      await ask(ABSENT_ID);
      expect(await ask(Number(theirs.values[id])), id).toEqual(await ask(ABSENT_ID));
    }
  });
});

describe("the name of an account that the caller may not see", () => {
  const NAMES = new RegExp(
    `^(?:${[
      "new_owner|organization|owner|repo_owner|template_owner|org",
      "assignees?|reviewers|.*(?:white|allow)list_usernames?|user_name",
      "created_by|assigned_by|mentioned_by|poster|actor|authors|only-performed-by",
      "user|username|collaborator|target",
    ].join("|")})$`,
  );
  /** The name is that of a new account, which must be free. */
  const CREATES = new Set(["orgCreate"]);
  /** The account of the path is compared above, by those who may not see it. */
  const isFirst = ({ path }: Operation, name: string): boolean =>
    /^\/(?:users|orgs?|repos|packages)\//.test(path) &&
    path.indexOf("{") === path.indexOf(`{${name}}`);

  /** A parameter or field of a request that names an account. */
  interface Field {
    readonly name: string;
    readonly ask: (request: OwnRequest, account: string) => Promise<Answer>;
  }
  type OwnRequest = Awaited<ReturnType<typeof makeOwnRequest>>;

  function fieldsOf(operation: Operation): Field[] {
    const { method, parameters, body = {} } = operation;
    const ofPath = parameters
      .filter((each) => each.in === "path" && !isFirst(operation, each.name))
      .map(({ name }): Field => ({
        name,
        ask: ({ caller, values, query, content }, account) => {
          const path = fillPath(operation.path, { ...values, [name]: account });
          return call(method, `${path}?${new URLSearchParams(query)}`, { as: caller, ...content });
        },
      }));
    const ofQuery = parameters
      .filter((each) => each.in === "query")
      .map(({ name }): Field => ({
        name,
        ask: ({ caller, pathname, query, content }, account) => {
          const search = new URLSearchParams({ ...query, [name]: account });
          return call(method, `${pathname}?${search}`, { as: caller, ...content });
        },
      }));
    const ofBody = Object.entries(body).map(([name, { type }]): Field => ({
      name,
      ask: ({ caller, pathname, query, content }, account) => {
        const value = [type].flat().includes("array") ? [account] : account;
        const json = { ...content.json, [name]: value };
        return call(method, `${pathname}?${new URLSearchParams(query)}`, { as: caller, json });
      },
    }));
    return [...ofPath, ...ofQuery, ...ofBody].filter(({ name }) => NAMES.test(name));
  }

  const naming = sampled.filter(
    (each) => isForUsers(each) && !CREATES.has(each.id) && fieldsOf(each).length > 0,
  );

  it.each(byId(naming))("is the same as one of nobody: %s", async (id, operation) => {
    const request = await makeOwnRequest(operation);
    const accounts = [...things.users, ...things.organizations].filter(
      ({ what }) => what !== "a limited user",
    );
    const turn = naming.findIndex((each) => each.id === id);
    for (const [at, { name, ask }] of fieldsOf(operation).entries()) {
      for (const [index, { what, hidden, absent }] of accounts.entries()) {
        if (!TAKES_ALL && index !== (turn + at) % accounts.length) continue;
        const trace = (account: string) => traced(() => ask(request, account), [account]);
        expect(await trace(hidden), `${name}: ${what}`).toEqual(await trace(absent));
      }
    }
  });
});
