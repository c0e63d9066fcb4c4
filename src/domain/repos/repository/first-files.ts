import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import { invalid, malformed } from "../../../lib/failure.ts";
import { findGitignore } from "../../code/templates/gitignores.ts";
import { fillLicense, findLicense } from "../../code/templates/licenses.ts";

/** The options for the content of a first commit. */
export interface FirstContent {
  /** Names of templates, separated by commas. */
  gitignores?: string | undefined;
  /** An SPDX id. */
  license?: string | undefined;
  readme?: string | undefined;
}

/** Maximum number of templates in a `.gitignore`, more than anybody combines. */
const GITIGNORES_MAX = 20;

/**
 * Generates the files of a first commit, by name, byte for byte as Gitea does: no line feed ends
 * the readme, and an empty line each gitignore template.
 *
 * @throws Failure `malformed` for an unknown readme, `invalid` for any other unknown template.
 */
export async function makeFirstFiles(
  ctx: Ctx,
  owner: User,
  { name, description }: { name: string; description?: string | undefined },
  content: FirstContent,
): Promise<Map<string, string>> {
  const files = new Map([["README.md", makeReadme(name, description ?? "", content.readme)]]);
  const ignored = await makeGitignore(content.gitignores ?? "");
  if (ignored !== "") files.set(".gitignore", ignored);
  if (content.license) {
    const license = await findLicense(content.license);
    if (!license) throw invalid(`license template does not exist: ${content.license}`);
    const blanks = {
      owner: owner.name,
      program: name,
      year: new Date(ctx.now).getUTCFullYear(),
    };
    files.set("LICENSE", fillLicense(license.text, blanks));
  }
  return files;
}

function makeReadme(name: string, description: string, template = ""): string {
  if (template !== "" && template !== "Default") {
    throw malformed("readme template does not exist, available templates: [Default]");
  }
  return `# ${name}\n\n${description}`;
}

async function makeGitignore(list: string): Promise<string> {
  const names = list.split(",").map((name) => name.trim());
  const requested = new Set(names.filter((name) => name !== ""));
  if (requested.size > GITIGNORES_MAX) {
    throw invalid(`a .gitignore is made of ${GITIGNORES_MAX} templates at most`);
  }
  let text = "";
  for (const name of requested) {
    const template = await findGitignore(name);
    if (!template) throw invalid(`gitignore template does not exist: ${name}`);
    text += `# ---> ${template.name}\n${template.text}\n`;
  }
  return text;
}
