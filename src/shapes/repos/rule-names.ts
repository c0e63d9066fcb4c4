/**
 * The users and teams that rules name, as far as they still belong there, in the order in which
 * they are listed.
 */
export interface RuleNames {
  readonly users: readonly RuleName[];
  readonly teams: readonly RuleName[];
}

interface RuleName {
  readonly id: number;
  readonly name: string;
}

/** The names of some ids. */
export const namesOf = (all: readonly RuleName[], ids: readonly number[]): string[] =>
  all.filter(({ id }) => ids.includes(id)).map(({ name }) => name);
