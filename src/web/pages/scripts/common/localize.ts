const exactTime = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "short" });
const shownTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const shownNumber = new Intl.NumberFormat();

/** Writes times and numbers as the reader's browser does, by its language and time zone. */
export function localize(root: ParentNode): void {
  for (const time of root.querySelectorAll("time")) {
    const date = new Date(time.dateTime);
    if (time.title === "") time.textContent = shownTime.format(date);
    else time.title = exactTime.format(date);
  }
  for (const data of root.querySelectorAll("data")) {
    data.textContent = shownNumber.format(Number(data.value));
  }
}
