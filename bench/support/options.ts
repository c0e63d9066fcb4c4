import { Refusal } from "../../scripts/refusal.ts";

/**
 * Runs a parser of the command line.
 *
 * @throws Refusal for an option that `parseArgs` does not know.
 */
export function refusingUnknown<Options>(parse: () => Options): Options {
  try {
    return parse();
  } catch (error) {
    if (error instanceof TypeError) throw new Refusal(error.message);
    throw error;
  }
}

/** @throws Refusal with the name of the option and its allowed values. */
export function numberOption(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (text !== "" && value >= min && value <= max) return value;
  throw new Refusal(`${name} must be a number from ${min} to ${max}, not "${text}"`);
}

/**
 * The names of `all` that are in a comma-separated list; `usual` without one.
 *
 * @throws Refusal with the name of the option and the values.
 */
export function choose<Name extends string>(
  option: string,
  text: string | undefined,
  all: readonly Name[],
  usual: readonly Name[],
): Name[] {
  if (text === undefined) return [...usual];
  const names = text.split(",");
  const unknown = names.find((name) => !all.some((known) => known === name));
  if (unknown === undefined) return all.filter((known) => names.includes(known));
  throw new Refusal(`${option}: unknown value "${unknown}"; the values are ${all.join(", ")}`);
}
