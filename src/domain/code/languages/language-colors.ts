/**
 * Returns the colors that linguist gives to languages, by their names: `#3178c6`. Some languages
 * have none.
 */
export async function loadLanguageColors(): Promise<Readonly<Record<string, string>>> {
  const { default: colors } = await import("../../../../dist/languages/colors.json");
  return colors;
}
