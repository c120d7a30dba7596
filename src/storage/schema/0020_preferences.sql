-- What each person set for their own screens: JSON, '' where nothing was set; the version counts the changes. It goes with the person.
ALTER TABLE identities ADD COLUMN preferences TEXT NOT NULL DEFAULT '';
ALTER TABLE identities ADD COLUMN preferences_version <int> NOT NULL DEFAULT 0;
