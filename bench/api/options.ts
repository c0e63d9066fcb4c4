import { parseArgs } from "node:util";

import { Refusal } from "../../scripts/refusal.ts";

/** What the benchmark is told on its command line. */
export type Options = {
  /** Size of the tables: 1 is 100,000 users, 100,000 repositories and 1,000,000 stars. */
  scale: number;
  /** How long each of a case's measurements lasts. */
  seconds: number;
};

const SCALE_MIN = 0.01;

/** @throws Refusal naming the option and what it allows. */
export function parseOptions(args: string[]): Options {
  try {
    const { values } = parseArgs({
      args,
      options: {
        scale: { type: "string", default: "1" },
        seconds: { type: "string", default: "3" },
      },
    });
    return {
      scale: number("--scale", values.scale, SCALE_MIN, 10),
      seconds: number("--seconds", values.seconds, 0.1, 60),
    };
  } catch (error) {
    if (error instanceof TypeError) throw new Refusal(error.message);
    throw error;
  }
}

function number(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (text !== "" && value >= min && value <= max) return value;
  throw new Refusal(`${name} must be a number from ${min} to ${max}, not "${text}"`);
}
