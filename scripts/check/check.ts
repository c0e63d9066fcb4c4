import { run as runTool } from "../tools/run.ts";

export type Check = { name: string; run(): Promise<CheckResult> };

export type CheckResult = {
  isOk: boolean;
  /** The faults; or, for a check that measures, the measurement. */
  detail: string;
};

/** Runs a tool as a check: fails with the tool's output if its exit code is not 0. */
export async function runCheckTool(tool: string, args: string[]): Promise<CheckResult> {
  const { code, output } = await runTool(tool, args);
  return { isOk: code === 0, detail: code === 0 ? "" : output.trim() };
}

/** The result of a check with these complaints: ok if there are none. */
export function toResult(complaints: string[]): CheckResult {
  return { isOk: complaints.length === 0, detail: complaints.join("\n") };
}
