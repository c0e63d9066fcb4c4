import { parseArgs } from "node:util";

import { Refusal } from "../../scripts/refusal.ts";
import { numberOption, refusingUnknown } from "../support/options.ts";

export type Options = {
  seed: number;
  /** Simulated seconds of each half hour; 1,800 is all. */
  sampleSeconds: number;
  /** Multiples of the day's load. */
  scales: number[];
  /** Values that replace those of the files of inputs. */
  changes: Map<string, number>;
  /** Whether the day has no bursts, whose sizes are those of a large forge. */
  isCalm: boolean;
  /** Whether to measure and record the costs instead. */
  measures: boolean;
  /** The output of a benchmark, whose figures are recorded instead. */
  from: string | undefined;
};

/** @throws Refusal with the name of the option and its allowed values. */
export function parseOptions(args: string[]): Options {
  return refusingUnknown(() => {
    const { values } = parseArgs({
      args,
      options: {
        seed: { type: "string", default: "1" },
        sample: { type: "string", default: "5" },
        scales: { type: "string", default: "0.1,0.5,1,2,5" },
        set: { type: "string", multiple: true, default: [] },
        "without-bursts": { type: "boolean", default: false },
        measure: { type: "boolean", default: false },
        from: { type: "string" },
      },
    });
    return {
      seed: Math.round(numberOption("--seed", values.seed, 0, 2 ** 31)),
      sampleSeconds: numberOption("--sample", values.sample, 1, 1800),
      scales: numbers("--scales", values.scales, 0.001, 100),
      changes: new Map(values.set.map(parseChange)),
      isCalm: values["without-bursts"],
      measures: values.measure,
      from: values.from,
    };
  });
}

const numbers = (name: string, list: string, min: number, max: number): number[] =>
  list.split(",").map((text) => numberOption(name, text, min, max));

function parseChange(text: string): [string, number] {
  const [, name = "", value = ""] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name === "") throw new Refusal(`--set must be name=number, not "${text}"`);
  return [name, numberOption(`--set ${name}`, value, 0, Number.MAX_VALUE)];
}
