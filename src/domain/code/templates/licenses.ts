/** The values that are filled into a license. */
export interface LicenseBlanks {
  owner: string;
  /** The name of the licensed program. */
  program: string;
  year: number;
}

/** A license with its SPDX id and the text that SPDX publishes for it. */
export interface LicenseTemplate {
  id: string;
  text: string;
}

// Loaded on first use: most requests need no license.
const load = async () => (await import("../../../../dist/templates/licenses.json")).default;

/** Lists the ids of all licenses, in order. */
export async function listLicenses(): Promise<string[]> {
  return Object.keys((await load()).ids);
}

/** Finds a license by its id, ignoring case. */
export async function findLicense(requestedId: string): Promise<LicenseTemplate | undefined> {
  const { ids, texts } = await load();
  const lowerId = requestedId.toLowerCase();
  for (const [id, index] of Object.entries(ids)) {
    const text = texts[index];
    if (text !== undefined && id.toLowerCase() === lowerId) return { id, text };
  }
  return undefined;
}

/**
 * Lists each text once, with the first of its ids: a text shared by two ids does not contain "or
 * later" itself.
 */
export async function listLicenseTexts(): Promise<LicenseTemplate[]> {
  const { ids, texts } = await load();
  return texts.flatMap((text, index) => {
    const id = Object.entries(ids).find(([, each]) => each === index)?.[0];
    return id === undefined ? [] : [{ id, text }];
  });
}

const YEAR = /<year>|\[year\]|\[yyyy\]/gi;
const OWNER =
  /<owner>|\[owner organization\]|<name of author>|[<[]copyright holders?[>\]]|\[name of copyright (?:owner|holder)\]/gi;

/** Fills in the placeholders that the user of a license replaces: year, owner and program. */
export const fillLicense = (text: string, { owner, program, year }: LicenseBlanks): string =>
  text
    .replaceAll(YEAR, () => String(year))
    .replaceAll(OWNER, () => owner)
    .replaceAll("<program>", () => program);
