import { inArray } from "drizzle-orm";

import {
  accessTokens,
  repositoryRedirects,
  type User,
  userRedirects,
} from "../../src/db/schema/index.ts";
import type { Sending } from "./call.ts";
import { db } from "./db.ts";
import { make, type TestUser } from "./make.ts";
import { TAKES_ALL } from "./sample.ts";

/** The names of a repository. */
export interface Names {
  readonly owner: string;
  readonly name: string;
}

/** Something that exists, and a name of the same length that nothing has. */
export interface HiddenPair<Name> {
  readonly what: string;
  /** Who sees it. */
  readonly seenBy: TestUser;
  readonly hidden: Name;
  readonly absent: Name;
}

/**
 * What nobody but its owner may see, under each kind of name that leads to it, and callers who may
 * not.
 */
export interface HiddenThings {
  /** Owns the repositories that no other user or organization owns. */
  readonly owner: TestUser;
  readonly repositories: readonly HiddenPair<Names>[];
  readonly users: readonly HiddenPair<string>[];
  readonly organizations: readonly HiddenPair<string>[];
  /** Callers, by what they are. */
  readonly callers: Readonly<Record<string, Sending>>;
}

let serial = 0;
/** Names of one length. */
function freshWord(): string {
  serial += 1;
  const random = Math.floor(Math.random() * 36 ** 5).toString(36);
  return `h${serial.toString(36).padStart(3, "0")}${random.padStart(5, "0")}`;
}

export async function makeHiddenThings(): Promise<HiddenThings> {
  const makeUser = (visibility: "public" | "limited" | "private") =>
    make.user({ name: freshWord(), visibility });
  const [owner, privateUser, limitedUser] = [
    await makeUser("public"),
    await makeUser("private"),
    await makeUser("limited"),
  ];
  const organization = await make.org([owner], { name: freshWord(), visibility: "private" });
  const makeRepo = async (of: User) =>
    (await make.repo(of, { name: freshWord(), isPrivate: true })).name;
  const repo = await make.repo(owner, { name: freshWord(), isPrivate: true });
  const formerName = freshWord();
  const [formerUser, formerOrganization] = [freshWord(), freshWord()];
  await db.batch([
    db
      .insert(repositoryRedirects)
      .values({ ownerId: owner.id, lowerName: formerName, repoId: repo.id }),
    db.insert(userRedirects).values([
      { lowerName: formerUser, userId: privateUser.id },
      { lowerName: formerOrganization, userId: organization.id },
    ]),
  ]);
  const ofPrivateUser = await makeRepo(privateUser);
  const [stranger, publicRepo] = [await make.user(), await make.repo(owner)];
  const token = async (of: TestUser, fields: Parameters<typeof make.token>[1]) => ({
    token: await make.token(of, fields),
  });
  const pairOf = (seenBy: TestUser, what: string, hidden: string) => ({
    what,
    seenBy,
    hidden,
    absent: freshWord(),
  });
  const callers = {
    anonymous: {},
    "a stranger": { as: stranger },
    "a stranger's token for other things": await token(stranger, { scopes: "read:misc" }),
    "a stranger's token for reading": await token(stranger, {
      scopes: "read:repository,read:issue,read:user,read:organization,read:package",
    }),
    "a stranger's token for public data": await token(stranger, { scopes: "public-only,all" }),
    "a stranger's token that is bound to a repository": await token(stranger, {
      repos: [publicRepo],
    }),
    "the owner's token for public data": await token(owner, { scopes: "public-only,all" }),
    "the owner's token that is bound to another repository": await token(owner, {
      repos: [publicRepo],
    }),
  };
  // No request notes the use of a token, which it does once a minute.
  await db
    .update(accessTokens)
    .set({ lastUsedAt: Date.now() + 3_600_000 })
    .where(inArray(accessTokens.userId, [stranger.id, owner.id]));
  return {
    owner,
    callers,
    repositories: [
      {
        what: "a private repository",
        seenBy: owner,
        hidden: { owner: owner.name, name: repo.name },
        absent: { owner: owner.name, name: freshWord() },
      },
      {
        what: "the former name of a private repository",
        seenBy: owner,
        hidden: { owner: owner.name, name: formerName },
        absent: { owner: owner.name, name: freshWord() },
      },
      {
        what: "a repository of a private user",
        seenBy: privateUser,
        hidden: { owner: privateUser.name, name: ofPrivateUser },
        absent: { owner: freshWord(), name: freshWord() },
      },
      {
        what: "a repository of the former name of a private user",
        seenBy: privateUser,
        hidden: { owner: formerUser, name: ofPrivateUser },
        absent: { owner: freshWord(), name: freshWord() },
      },
      {
        what: "a repository of a private organization",
        seenBy: owner,
        hidden: { owner: organization.name, name: await makeRepo(organization) },
        absent: { owner: freshWord(), name: freshWord() },
      },
    ],
    users: [
      pairOf(privateUser, "a private user", privateUser.name),
      pairOf(privateUser, "the former name of a private user", formerUser),
      pairOf(limitedUser, "a limited user", limitedUser.name),
    ],
    organizations: [
      pairOf(owner, "a private organization", organization.name),
      pairOf(owner, "the former name of a private organization", formerOrganization),
    ],
  };
}

/** One thing with one caller. */
export interface HiddenCase<Name> {
  readonly pair: HiddenPair<Name>;
  readonly caller: string;
  readonly sending: Sending;
}

/**
 * The first thing with the callers that have no narrow token and another one, and one more thing
 * with one caller: others at each turn. With `npm run test:deep`, each thing with each caller.
 */
export function casesOf<Name>(
  callers: Readonly<Record<string, Sending>>,
  pairs: readonly HiddenPair<Name>[],
  turn: number,
): HiddenCase<Name>[] {
  const names = Object.keys(callers);
  const other = 1 + (turn % Math.max(1, pairs.length - 1));
  return pairs.flatMap((pair, at) =>
    Object.entries(callers)
      .filter(
        ([caller], index) =>
          TAKES_ALL ||
          (at === 0 && ["anonymous", "a stranger"].includes(caller)) ||
          ((at === 0 || at === other) && index === (turn + at * 3) % names.length),
      )
      .map(([caller, sending]) => ({ pair, caller, sending })),
  );
}

/**
 * Whether an account is no secret: a limited user for callers who are signed in, an organization
 * for its owner.
 */
export const isAccountSeen = ({ pair: { what }, caller }: HiddenCase<unknown>): boolean =>
  (what === "a limited user" && caller !== "anonymous") ||
  (what.includes("organization") &&
    caller === "the owner's token that is bound to another repository");
