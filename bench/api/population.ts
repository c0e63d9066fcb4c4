import { makeSecret } from "../../src/auth/secret.ts";

/**
 * What the tables hold, computed from the number of a row: the same in every run, and a smaller
 * population is the beginning of a larger one, so that tables can grow between two measurements.
 */
export type Population = { users: number; repositories: number; stars: number };

export function populationOf(scale: number): Population {
  const users = Math.round(scale * 1000) * 100;
  return { users, repositories: users, stars: users * STARS_PER_USER };
}

/** A word in the names of half of the repositories. */
export const COMMON_WORD = "service";
/** A word in the names of five repositories, however many there are. */
export const RARE_WORD = "quetzal";

/** Who has starred three repositories of ten, so that there is a page 1,000 of thirty. */
export const COLLECTOR = 0;
/** Who creates repositories, and has none at first. */
export const CREATOR = 1;

/** The secrets of their tokens: they open nothing but the tables of one run. */
export const tokens = { [COLLECTOR]: makeSecret(), [CREATOR]: makeSecret() };

const RARE = new Set([11, 22, 34, 45, 56]);
const STARS_PER_USER = 10;
/** Private repositories below it were starred by the collector, who no longer sees them: ten. */
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

/** Whom only those see who have signed in. */
export const isLimited = (user: number): boolean => user % 100 === 99;

/** Every fourth user owns four repositories; the creator, as most people, owns none. */
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
 * The stars that come when a population grows: each user gives about ten, the collector three
 * for every ten repositories there are.
 *
 * @param from The size before, of users and of repositories alike.
 * @param to   The size after.
 */
export function* starRows(from: number, to: number) {
  for (let repository = from; repository < to; repository += 1) {
    const isLost = isPrivate(repository) && repository < LOST_MAX;
    if (repository % 10 < 3 || isLost) yield starRow(COLLECTOR, repository);
  }
  // What the collector takes of the total, the others give less: 9.7 stars each.
  for (let user = Math.max(from, 1); user < to; user += 1) {
    const count = user % 10 < 7 ? STARS_PER_USER : STARS_PER_USER - 1;
    for (let star = 0; star < count; star += 1) {
      // Neighbours star neighbours: pages of the tables are filled one after another, which loads faster.
      const repository = (user + star * 10_007) % to;
      // Nobody stars what they don't see; those next to a private repository are not.
      yield starRow(user, isPrivate(repository) ? (repository + 1) % to : repository);
    }
  }
}

const starRow = (user: number, repository: number) => ({
  userId: user + 1,
  repoId: repository + 1,
  createdAt: EPOCH_MS + (user + repository) * MINUTE_MS,
});
