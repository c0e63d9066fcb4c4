import { makeRandom } from "../../test/git/support/random.ts";

/** A line of the sources that is changed so that a test should fail. */
export interface Mutation {
  kind: "guard" | "bound" | "event";
  file: string;
  /** From 1. */
  line: number;
  before: string;
  after: string;
}

/** A file of the sources. */
export interface Source {
  file: string;
  text: string;
}

const GUARD = /^(\s*(?:\} else )?if \().+(\) (?:throw|return)\b.*)$/;
const BOUND = /^((?:export )?const \w*(?:MAX|MIN|LIMIT)\w*(?:: number)? = )(\d[\d_]*)(.*)$/;
const EVENT = /^(\s*type: ")([a-z_]+\.[a-z_]+)(",?)$/;

/** A guard that never holds, a bound ten times as large, an event of another kind. */
const CHANGES: Record<Mutation["kind"], (line: string, eventTypes: readonly string[]) => string> = {
  guard: (line) => line.replace(GUARD, "$1false$2"),
  bound: (line) => line.replace(BOUND, "$1$2 * 10$3"),
  event: (line, types) =>
    line.replace(EVENT, (_, head: string, type: string, end: string) => {
      const other = types[(types.indexOf(type) + 1) % types.length] ?? type;
      return `${head}${other}${end}`;
    }),
};

/** All lines that can be changed: guards, bounds, and the events that operations record. */
export function findMutations(sources: readonly Source[]): Mutation[] {
  const lines = sources.flatMap(({ file, text }) =>
    text.split("\n").map((before, at) => ({ file, line: at + 1, before })),
  );
  const types = [
    ...new Set(lines.flatMap(({ before }) => EVENT.exec(before)?.[2] ?? [])),
  ].toSorted();
  return lines.flatMap((line): Mutation[] => {
    const kind = kindOf(line.before, line.file);
    return kind ? [{ kind, ...line, after: CHANGES[kind](line.before, types) }] : [];
  });
}

function kindOf(line: string, file: string): Mutation["kind"] | undefined {
  if (GUARD.test(line)) return "guard";
  if (BOUND.test(line)) return "bound";
  return file.startsWith("src/domain/") && EVENT.test(line) ? "event" : undefined;
}

/** Chooses mutations by a seed: a third of each kind, as far as there are. */
export function chooseMutations(all: readonly Mutation[], count: number, seed: number): Mutation[] {
  const random = makeRandom(seed);
  const kinds = ["guard", "bound", "event"] as const;
  const left = kinds.map((kind) => all.filter((mutation) => mutation.kind === kind));
  const chosen: Mutation[] = [];
  for (let turn = 0; chosen.length < count && left.some((list) => list.length > 0); turn++) {
    const list = left[turn % left.length] ?? [];
    chosen.push(...list.splice(random.below(list.length), 1));
  }
  return chosen;
}

/** Applies a mutation to the text of its file. */
export function mutate(text: string, { line, after }: Mutation): string {
  return text
    .split("\n")
    .map((each, at) => (at + 1 === line ? after : each))
    .join("\n");
}
