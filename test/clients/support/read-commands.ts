import { readFileSync } from "node:fs";

/** The commands of a document, in order: its blocks of `sh`. */
export function readCommands(document: string): string {
  const blocks = readFileSync(document, "utf8").matchAll(/^```sh\n(.*?)^```$/gms);
  return Array.from(blocks, ([, commands]) => commands).join("\n");
}
