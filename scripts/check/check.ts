import { run as runTool } from "../tools/run.ts";

export type Check = { name: string; run(): Promise<Verdict> };

export type Verdict = {
  isOk: boolean;
  /** What is wrong; or, of a check that measures, what it found. */
  detail: string;
};

/** The verdict of a tool: its exit code, and on failure all it said. */
export async function judge(tool: string, args: string[]): Promise<Verdict> {
  const { code, output } = await runTool(tool, args);
  return { isOk: code === 0, detail: code === 0 ? "" : output.trim() };
}

/** Ok when there are no complaints. */
export function verdictOf(complaints: string[]): Verdict {
  return { isOk: complaints.length === 0, detail: complaints.join("\n") };
}
