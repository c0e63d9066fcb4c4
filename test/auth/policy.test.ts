import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { ANONYMOUS, type Actor } from "../../src/auth/actor.ts";
import { callerSql } from "../../src/auth/caller-sql.ts";
import {
  isAccountVisible,
  isRepositoryVisible,
  openVisibilities,
  seesAccount,
  seesOpenThings,
} from "../../src/auth/policy.ts";
import { ALL_SCOPES, readStoredScopes } from "../../src/auth/scope.ts";
import { hashSecret } from "../../src/auth/secret.ts";
import { allOf } from "../../src/db/db.ts";
import {
  ACCESS,
  accessTokens,
  organizationMembers,
  repositories,
  users,
  type Repository,
  type User,
} from "../../src/db/schema/index.ts";
import { selectRepositories, toEntry } from "../../src/domain/repos/find-repository.ts";
import { only } from "../../src/lib/only.ts";
import { call } from "../support/call.ts";
import { db } from "../support/db.ts";
import { make, type TestRepo } from "../support/make.ts";

const VISIBILITIES = ["public", "limited", "private"] as const;
const USER_KINDS = { plain: {}, restricted: { isRestricted: true }, admin: { isAdmin: true } };
const CREDENTIALS = ["password", "all", "public-only", "bound"] as const;

/** What somebody may be given in a repository, each by another way through the tables. */
type Grant =
  | "none"
  | "owner"
  | "collaborator"
  | "team of all"
  | "team of this one"
  | "team of another"
  | "team without access"
  | "member";
const USER_GRANTS: Grant[] = ["none", "owner", "collaborator"];
const ORG_GRANTS: Grant[] = [
  "none",
  "owner",
  "collaborator",
  "team of all",
  "team of this one",
  "team of another",
  "team without access",
  "member",
];

interface Case {
  what: string;
  owner: User;
  repo: TestRepo;
  user: User;
  grant: Grant;
  isMember: boolean;
  ownerVisibility: (typeof VISIBILITIES)[number];
}

/** A repository of its own for every owner, visibility, kind of user and grant. */
async function makeCases(): Promise<Case[]> {
  const cases: Case[] = [];
  for (const [kindName, fields] of Object.entries(USER_KINDS)) {
    for (const ownerVisibility of VISIBILITIES) {
      for (const isPrivate of [false, true]) {
        for (const ownerKind of ["user", "organization"] as const) {
          for (const grant of ownerKind === "user" ? USER_GRANTS : ORG_GRANTS) {
            const what = `${kindName}, ${grant} of ${ownerVisibility} ${ownerKind}, private ${isPrivate}`;
            cases.push(
              await makeCase(what, { fields, ownerVisibility, isPrivate, ownerKind, grant }),
            );
          }
        }
      }
    }
  }
  return cases;
}

async function makeCase(
  what: string,
  given: {
    fields: Partial<User>;
    ownerVisibility: Case["ownerVisibility"];
    isPrivate: boolean;
    ownerKind: User["kind"];
    grant: Grant;
  },
): Promise<Case> {
  const { grant, ownerVisibility } = given;
  const isUsers = given.ownerKind === "user";
  const isOwn = isUsers && grant === "owner";
  const user = await make.user({ ...given.fields, ...(isOwn && { visibility: ownerVisibility }) });
  const ownerFields = { visibility: ownerVisibility };
  const newOwner = isUsers ? make.user(ownerFields) : make.org([], ownerFields);
  const owner = isOwn ? user : await newOwner;
  const repo = await make.repo(owner, { isPrivate: given.isPrivate });
  const teamOf = { all: true, access: ACCESS.read };
  if (grant === "collaborator") await make.collaborator(repo, user, 1);
  if (!isUsers && grant === "owner") {
    await make.member(owner, await make.team(owner, { access: ACCESS.owner }), user);
  }
  if (grant === "team of all") await make.member(owner, await make.team(owner, teamOf), user);
  if (grant === "team of this one" || grant === "team of another") {
    const team = await make.team(owner, { ...teamOf, all: false });
    await make.member(owner, team, user);
    const reached = grant === "team of this one" ? repo : await make.repo(owner);
    await make.teamRepo(team, reached);
  }
  if (grant === "team without access") {
    await make.member(owner, await make.team(owner, { all: true, access: ACCESS.none }), user);
  }
  if (grant === "member") {
    await db.insert(organizationMembers).values({ orgId: owner.id, userId: user.id });
  }
  const isMember = !isUsers && grant !== "none" && grant !== "collaborator";
  return { what, owner, repo, user, grant, isMember, ownerVisibility };
}

/** The actors that a user may be, with what they may reach written down by hand. */
async function actorsOf(user: User, repo: Repository) {
  const other = await make.repo(user);
  const actors: { what: string; actor: Actor; token: string | undefined; isHere: boolean }[] = [
    { what: "anonymous", actor: ANONYMOUS, token: undefined, isHere: true },
  ];
  for (const credential of CREDENTIALS) {
    for (const isHere of credential === "bound" ? [true, false] : [true]) {
      const scopes = credential === "public-only" ? "public-only,all" : "all";
      const repos = credential === "bound" ? { repos: [isHere ? repo : other] } : {};
      const token = await make.token(user, { scopes, ...repos });
      const row = only(
        await db
          .select()
          .from(accessTokens)
          .where(eq(accessTokens.secretHash, await hashSecret(token))),
      );
      const isPassword = credential === "password";
      actors.push({
        what: `${credential} ${isHere}`,
        isHere,
        token: isPassword ? undefined : token,
        actor: {
          user,
          isSiteAdmin: user.isAdmin && (isPassword || credential === "all"),
          credential: isPassword ? "basic" : "token",
          scopes: isPassword ? ALL_SCOPES : readStoredScopes(row.scopes),
          token: isPassword ? undefined : row,
        },
      });
    }
  }
  return actors;
}

/** The rule once more, as one would say it: the judge of both forms of it. */
function mayRead(
  { grant, repo, isMember, ownerVisibility }: Case,
  actor: Actor,
  isHere: boolean,
): boolean {
  const visibility = repo.isPrivate ? "private" : ownerVisibility;
  if (!isHere) return false;
  if (!actor.user || actor.scopes.isPublicOnly) {
    if (visibility !== "public") return false;
    if (!actor.user) return true;
  }
  if (actor.isSiteAdmin) return true;
  if (["owner", "collaborator", "team of all", "team of this one"].includes(grant)) return true;
  if (isMember && !repo.isPrivate) return true;
  return !actor.user.isRestricted && visibility !== "private";
}

describe("who may see what", () => {
  let cases: Case[] = [];
  beforeAll(async () => {
    cases = await makeCases();
  }, 120_000);

  it("is the same to the judge, to the lists, to the search and to the rule as it is said", async () => {
    const faults: string[] = [];
    let count = 0;
    for (const each of cases) {
      const { owner, repo, user } = each;
      for (const { what, actor, isHere } of await actorsOf(user, repo)) {
        const where = `${each.what}; ${what}`;
        count += 1;
        const row = only(
          await selectRepositories(db, callerSql(actor)).where(eq(repositories.id, repo.id)),
        );
        const judged = toEntry(actor, row).access > ACCESS.none;
        const [inList, accountInList] = await db.batch([
          db
            .select({ id: repositories.id })
            .from(repositories)
            .where(allOf(eq(repositories.id, repo.id), isRepositoryVisible(actor))),
          db
            .select({ id: users.id })
            .from(users)
            .where(allOf(eq(users.id, owner.id), isAccountVisible(actor))),
        ]);
        const expected = mayRead(each, actor, isHere);
        if (judged !== expected) faults.push(`judged ${judged}: ${where}`);
        if (inList.length > 0 !== expected) faults.push(`listed ${inList.length}: ${where}`);

        const isSeen = seesAccount(actor, owner, actor.user !== undefined && each.isMember);
        if (accountInList.length > 0 !== isSeen) faults.push(`account ${isSeen}: ${where}`);

        const open: readonly string[] = openVisibilities(actor);
        const isOpen = open.includes(row.repo.visibility) && isHere;
        if (isOpen && !expected) faults.push(`open: ${where}`);
        if (seesOpenThings(actor) && row.repo.visibility === "public" && !expected) {
          faults.push(`open things: ${where}`);
        }
      }
    }
    expect(faults).toEqual([]);
    expect(count).toBe(3 * 3 * 2 * (USER_GRANTS.length + ORG_GRANTS.length) * 6);
  }, 120_000);

  it("is the same to the search and to the page of each repository", async () => {
    const faults: string[] = [];
    for (const each of cases.filter((_, at) => at % 5 === 0)) {
      const { repo, user } = each;
      for (const { what, actor, token, isHere } of await actorsOf(user, repo)) {
        if (actor.credential === "basic") continue;
        const sending = token === undefined ? {} : { token };
        const expected = mayRead(each, actor, isHere);
        const page = await call("GET", `/repos/${repo.owner}/${repo.name}`, sending);
        const found = await call("GET", `/repos/search?q=${repo.name}`, sending);
        const owned = await call(
          "GET",
          `/repos/search?uid=${each.owner.id}&exclusive=true`,
          sending,
        );
        const ids = [found, owned].map(({ body }) =>
          (body.data as Repository[]).some(({ id }) => id === repo.id),
        );
        const answers = [page.status === 200, ...ids];
        if (answers.some((answer) => answer !== expected)) {
          faults.push(`${answers.join()} for ${expected}: ${each.what}; ${what}`);
        }
      }
    }
    expect(faults).toEqual([]);
  }, 120_000);
});
