// Text for values: times, distances, signals and identities.

const pad = (number) => String(number).padStart(2, "0");
const timeFormat = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const dayFormat = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const dayYearFormat = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const exactFormat = new Intl.DateTimeFormat(undefined, {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
  hourCycle: "h23", timeZoneName: "short",
});
const numberFormat = new Intl.NumberFormat("en");

const date = (seconds) => new Date(seconds * 1000);

/** Formats the local time of day, such as 12:03:20. */
export const clock = (seconds) => timeFormat.format(date(seconds));

/** Formats the date, time and time zone. */
export const exact = (seconds) => exactFormat.format(date(seconds));

/** Formats a time for the attribute `datetime`. */
export function machineTime(seconds) {
  const value = date(seconds);
  return Number.isNaN(value.getTime()) ? "" : value.toISOString();
}

/** Returns a key of the local day, such as 2025-04-30. */
export function dayKey(seconds) {
  const value = date(seconds);
  return `${value.getFullYear()}-${pad(value.getMonth() + 1)}-${pad(value.getDate())}`;
}

/** Returns a day's name: Today, Yesterday, or the date. */
export function dayName(seconds, now) {
  const key = dayKey(seconds);
  if (key === dayKey(now)) return "Today";
  const yesterday = date(now);
  yesterday.setDate(yesterday.getDate() - 1);
  if (key === dayKey(yesterday.getTime() / 1000)) return "Yesterday";
  return (date(seconds).getFullYear() === date(now).getFullYear() ? dayFormat : dayYearFormat).format(date(seconds));
}

const shortDayFormat = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short" });
const shortDayYearFormat = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });

/** Formats a time as short as it is clear: "Today 12:03:20", "Sat, 21 Nov 12:03:20". */
export function shortTime(seconds, now) {
  const key = dayKey(seconds);
  const yesterday = date(now);
  yesterday.setDate(yesterday.getDate() - 1);
  const day = key === dayKey(now) ? "Today" : key === dayKey(yesterday.getTime() / 1000) ? "Yesterday"
    : (date(seconds).getFullYear() === date(now).getFullYear() ? shortDayFormat : shortDayYearFormat).format(date(seconds));
  return `${day} ${clock(seconds)}`;
}

/** Formats a duration in one or two units: 12 s, 3 min, 2 h 5 min, 4 days. */
export function span(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 && hours < 6 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  const days = Math.floor(hours / 24);
  return days === 1 ? "1 day" : `${count(days)} days`;
}

/** Formats a time relative to now in the given style: "for", "ago" or "in". */
export function relative(seconds, style, now) {
  if (style === "in") return seconds <= now ? "now" : `in ${span(seconds - now)}`;
  const elapsed = now - seconds;
  if (style === "ago") return elapsed < 2 ? "just now" : `${span(elapsed)} ago`;
  return elapsed < 2 ? "just now" : `for ${span(elapsed)}`;
}

/** Formats a number with grouped thousands. */
export const count = (number) => numberFormat.format(number);

/** Formats a number and its noun: 1 beacon, 2 beacons. */
export const counted = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

const meters = (value) => (value >= 9.95 ? String(Math.round(value)) : value.toFixed(1));

/** Returns whether a range has no upper end. */
const isOpen = (range) => Boolean(range) && range[1] === null;

/** Formats a distance: "1.4 m", "more than 7 m" if its range has no upper end, or "unknown". */
export function distance(accuracy, range) {
  if (accuracy < 0) return "unknown";
  return isOpen(range) ? `more than ${Math.round(range[0])} m` : `${meters(accuracy)} m`;
}

/** Formats the range of a distance: "0.7 to 2.8", or nothing if it is unknown or has no upper end. */
export const distanceRange = (accuracy, range) =>
  (accuracy < 0 || !range || isOpen(range) ? "" : `${meters(range[0])} to ${meters(range[1])}`);

/** Formats a distance with its range: "1.4 m (0.7 to 2.8)". */
export function distanceWithRange(accuracy, range) {
  const ends = distanceRange(accuracy, range);
  return ends ? `${distance(accuracy, range)} (${ends})` : distance(accuracy, range);
}

const signed = (number, digits = 0) => number.toFixed(digits).replace("-", "−");

/** Formats a signal's strength: "−62 dBm", or "none" for 0. */
export const signal = (rssi) => (rssi ? `${signed(rssi)} dBm` : "none");

/** Formats a number with a proper minus sign and a unit. */
export const measure = (number, unit, digits = 0) => `${signed(number, digits)} ${unit}`;

/** Formats a rate: 12.5, 0.4 or 230. */
export const rate = (number) => (number >= 100 ? count(Math.round(number)) : number.toFixed(1));

/** Returns a key that identifies a beacon. */
export const identity = (beacon) => `${beacon.uuid.toUpperCase()}/${beacon.major}/${beacon.minor}`;

/** Returns the first group of a UUID. */
export const shortUUID = (uuid) => uuid.slice(0, 8).toUpperCase();

/** Returns a beacon's name, or its major and minor. */
export const beaconName = (beacon) => beacon.name || `${beacon.major} · ${beacon.minor}`;

/** Returns the identity of a region: its UUID, and its major and minor if it has them. */
export function regionIdentity(region) {
  const parts = [region.uuid.toUpperCase()];
  if (region.major != null) parts.push(`major ${region.major}`);
  if (region.minor != null) parts.push(`minor ${region.minor}`);
  return parts.join(", ");
}

export const proximities = ["immediate", "near", "far", "unknown"];
export const proximityWords = { immediate: "Immediate", near: "Near", far: "Far", unknown: "Unknown" };

/** Returns the UUID in capitals, or null for invalid text. Accepts braces and missing hyphens. */
export function parseUUID(text) {
  const hex = text.trim().replace(/^\{|\}$/g, "").replace(/-/g, "").toUpperCase();
  if (!/^[0-9A-F]{32}$/.test(hex)) return null;
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** Returns the whole number, or null if the text is not a number from least to most. */
export function parseWhole(text, least, most) {
  const trimmed = text.trim().replace("−", "-");
  if (!/^-?\d{1,6}$/.test(trimmed)) return null;
  const number = Number(trimmed);
  return number >= least && number <= most ? number : null;
}
