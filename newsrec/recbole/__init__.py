"""RecBole's models on newsrec's impressions: trained in an environment of their own."""
