import { makeSecret } from "../../src/auth/secret.ts";

/**
 * The content of the tables, computed from row numbers: the same in every run, and a smaller
 * population is the beginning of a larger one, so that tables can grow between two measurements.
 */
export type Population = { users: number; repositories: number; stars: number };

export function populationOf(scale: number): Population {
  const users = Math.round(scale * 1000) * 100;
  return { users, repositories: users, stars: users * STARS_PER_USER };
}

/** A word in the names of half of the repositories. */
export const COMMON_WORD = "service";
/** A word in the names of five repositories, at every scale. */
export const RARE_WORD = "quetzal";

/** A user who has starred 30% of the repositories, so that page 1,000 of 30 items exists. */
export const COLLECTOR = 0;
/** A user who creates repositories, and initially has none. */
export const CREATOR = 1;
/** A member of the organization, in one of its teams. */
export const MEMBER = 2;

/** The secrets of their tokens, which are valid in one run only. */
export const tokens = {
  [COLLECTOR]: makeSecret(),
  [CREATOR]: makeSecret(),
  [MEMBER]: makeSecret(),
};

const RARE = new Set([11, 22, 34, 45, 56]);
const STARS_PER_USER = 10;
/**
 * Private repositories below this number were starred by the collector, who can no longer see them:
 * ten.
 */
const LOST_MAX = 200;
const MINUTE_MS = 60_000;
const EPOCH_MS = Date.UTC(2020, 0, 1);

const WORDS = "amber basil cedar delta ember fjord grove haven ivory jetty kelp lunar mango".split(
  " ",
);
const KINDS = "parser driver mirror bridge editor viewer ledger".split(" ");
const word = (list: string[], index: number): string => list[index % list.length] ?? "";

export const userName = (user: number): string => `${word(WORDS, user)}-${user}`;

export function userRow(user: number) {
  return {
    id: user + 1,
    name: userName(user),
    fullName: `${word(WORDS, user)} ${word(KINDS, user)} ${user}`,
    email: `${userName(user)}@example.com`,
    visibility: isLimited(user) ? "limited" : "public",
    createdAt: EPOCH_MS + user * MINUTE_MS,
  };
}

/** Whether only authenticated users can see a user. */
export const isLimited = (user: number): boolean => user % 100 === 99;

/** Every fourth user owns four repositories; the creator, like most users, owns none. */
export const ownerOf = (repository: number): number => repository - (repository % 4);

export const isPrivate = (repository: number): boolean => repository % 20 === 7;

export function repositoryName(repository: number): string {
  const first = RARE.has(repository) ? RARE_WORD : word(WORDS, repository);
  const kind = repository % 2 === 0 ? COMMON_WORD : word(KINDS, repository);
  return `${first}-${kind}-${repository}`;
}

export function repositoryRow(repository: number) {
  const name = repositoryName(repository);
  return {
    id: repository + 1,
    ownerId: ownerOf(repository) + 1,
    name,
    description: `The ${word(KINDS, repository)} that ${word(WORDS, repository * 7)} people use`,
    isPrivate: isPrivate(repository) ? 1 : 0,
    sizeBytes: (repository * 7919) % 10_000_000,
    createdAt: EPOCH_MS + repository * MINUTE_MS,
  };
}

/**
 * The stars that are added when a population grows: about ten by each user, and by the collector
 * three for every ten repositories.
 *
 * @param from The number of users, and of repositories, before.
 * @param to   The number after.
 */
export function* starRows(from: number, to: number) {
  for (let repository = from; repository < to; repository += 1) {
    const isLost = isPrivate(repository) && repository < LOST_MAX;
    if (repository % 10 < 3 || isLost) yield starRow(COLLECTOR, repository);
  }
  // Other users have 9.7 stars each, so that the total includes the collector's.
  for (let user = Math.max(from, 1); user < to; user += 1) {
    const count = user % 10 < 7 ? STARS_PER_USER : STARS_PER_USER - 1;
    for (let star = 0; star < count; star += 1) {
      // Adjacent users star adjacent repositories: table pages fill sequentially, which loads
      // faster.
      const repository = (user + star * 10_007) % to;
      // Users star visible repositories only; the repository after a private one is public.
      yield starRow(user, isPrivate(repository) ? (repository + 1) % to : repository);
    }
  }
}

const starRow = (user: number, repository: number) => ({
  userId: user + 1,
  repoId: repository + 1,
  createdAt: EPOCH_MS + (user + repository) * MINUTE_MS,
});
