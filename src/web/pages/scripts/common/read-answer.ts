/** The page with which the service answers a form; undefined if it can't be reached. */
export async function readPage(answer: Response | undefined): Promise<Document | undefined> {
  const text = await answer?.text();
  return text === undefined ? undefined : new DOMParser().parseFromString(text, "text/html");
}

/** Why a form was refused, as the page says that answers it. */
export function reasonOf(page: Document | undefined): string {
  if (!page) return "The service can't be reached.";
  const faults = [...page.querySelectorAll("main .notice.error, main .fault")]
    .map((each) => each.textContent.trim())
    .filter((text) => text !== "");
  return faults.join(" ") || (page.querySelector("main h1")?.textContent ?? "It was not sent.");
}
