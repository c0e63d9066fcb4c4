import { makeSecret } from "../../src/auth/secret.ts";

// The content of the tables, computed in SQL from the numbers of issues: the same in every run, and
// a smaller population is the beginning of a larger one, so that tables can grow between two
// measurements.

/** The owner of the repository. */
export const OWNER = "owner";
export const REPOSITORY = "large";
/** Accounts that open, comment and are assigned: `user-2` and so on, by their ids. */
export const USERS = 100;

/** The secret of the owner's token, which is valid in one run only. */
export const token = makeSecret();

/** A word in half of the comments. */
export const COMMON_WORD = "service";
/** A word in the titles of five issues, at every size. */
export const RARE_WORD = "quetzal";

export const COMMENTS_PER_ISSUE = 5;

/** Labels by id: how many issues of a hundred have them, or the numbers of those that do. */
export const LABELS = [
  { id: 1, name: "common", condition: "n % 2 = 0" },
  { id: 2, name: "some", condition: "n % 100 = 7" },
  { id: 3, name: "rare", condition: "n in (11, 222, 345, 456, 567)" },
] as const;

/** Every tenth issue is in one of ten milestones, and another tenth in the first. */
export const MILESTONES = 10;

/** Columns of an issue, in SQL over its number `n`. */
export const ISSUE = {
  title: `(value ->> (n % 13)) || ' ' || (value ->> (n * 7 % 13)) || ' ' || n
    || iif(n in (11, 222, 345, 456, 567), ' ${RARE_WORD}', '')`,
  body: `'The ' || (value ->> (n % 13)) || ' does not ' || (value ->> (n * 11 % 13)) || ' in version ' || n`,
  isClosed: "n % 5 < 2",
  posterId: `2 + n % ${USERS}`,
  milestoneId: `iif(n % 10 = 3, 1, iif(n % 10 = 4, 1 + n / 10 % ${MILESTONES}, null))`,
  deadlineAt: "iif(n % 10 = 1, 1600000000000 + n * 7919 % 1000003 * 1000, null)",
  createdAt: "1500000000000 + n * 60000",
  updatedAt: "1500000000000 + n * 7919 % 1000003 * 60000",
} as const;

export const WORDS = "amber basil cedar delta ember fjord grove haven ivory jetty kelp lunar mango";
