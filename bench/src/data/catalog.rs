//! What units are made of: 40 makes with 12 models each, 50 pieces of equipment, and words about them.

pub(super) const MAKES: [&str; 40] = [
    "Acura",
    "Alfa Romeo",
    "Audi",
    "BMW",
    "Buick",
    "Cadillac",
    "Chevrolet",
    "Chrysler",
    "Dodge",
    "Fiat",
    "Ford",
    "Genesis",
    "GMC",
    "Honda",
    "Hyundai",
    "Infiniti",
    "Jaguar",
    "Jeep",
    "Kia",
    "Land Rover",
    "Lexus",
    "Lincoln",
    "Lucid",
    "Maserati",
    "Mazda",
    "Mercedes-Benz",
    "MINI",
    "Mitsubishi",
    "Nissan",
    "Polestar",
    "Porsche",
    "Ram",
    "Rivian",
    "Saab",
    "Subaru",
    "Suzuki",
    "Tesla",
    "Toyota",
    "Volkswagen",
    "Volvo",
];

/// A model's name is one of these and its make's number: 480 names, none of them of two makes.
const MODELS: [&str; 12] = [
    "Aurora", "Breeze", "Canyon", "Drift", "Ember", "Falcon", "Glide", "Horizon", "Inlet", "Journey",
    "Kestrel", "Lumen",
];

pub(super) const MODELS_OF_MAKE: u32 = MODELS.len() as u32;

pub(super) fn model(make: u32, model: u32) -> String {
    let name = MODELS.get(model as usize).copied().unwrap_or_default();
    format!("{name} {}", 10 + make * 5)
}

pub(super) const TRIMS: [&str; 12] = [
    "Base",
    "S",
    "SE",
    "SEL",
    "Sport",
    "Touring",
    "Limited",
    "Premium",
    "Platinum",
    "Off-Road",
    "GT",
    "Signature",
];

pub(super) const BODIES: [&str; 8] =
    ["suv", "sedan", "truck", "hatchback", "coupe", "wagon", "van", "convertible"];

pub(super) const FUELS: [&str; 5] = ["gasoline", "hybrid", "electric", "diesel", "plug-in hybrid"];

pub(super) const DRIVELINES: [&str; 4] = ["FWD", "AWD", "RWD", "4WD"];

pub(super) const TRANSMISSIONS: [&str; 6] = [
    "8-Speed Automatic",
    "CVT",
    "10-Speed Automatic",
    "6-Speed Manual",
    "7-Speed Dual-Clutch",
    "Single-Speed",
];

pub(super) const ENGINES: [&str; 8] = [
    "2.0L I4 Turbo",
    "2.5L I4",
    "3.5L V6",
    "3.0L I6 Turbo",
    "5.0L V8",
    "1.5L I3 Turbo",
    "Electric Motor",
    "2.5L I4 Hybrid",
];

pub(super) const EXTERIORS: [&str; 16] = [
    "Glacier White",
    "Jet Black",
    "Silver Metallic",
    "Graphite Gray",
    "Deep Blue",
    "Racing Red",
    "Forest Green",
    "Pearl White",
    "Midnight Black",
    "Storm Gray",
    "Ocean Blue",
    "Crimson Red",
    "Desert Sand",
    "Bronze",
    "Burnt Orange",
    "Sunrise Yellow",
];

pub(super) const INTERIORS: [&str; 8] =
    ["Black", "Gray", "Beige", "Black Leather", "Brown Leather", "White", "Red Leather", "Tan"];

pub(super) const ROOFTOPS: [&str; 3] = ["Main Street", "Harbor Road", "Airport"];

pub(super) const FEATURES: [&str; 50] = [
    "adaptive_cruise_control",
    "all_weather_mats",
    "ambient_lighting",
    "android_auto",
    "apple_carplay",
    "auto_high_beams",
    "automatic_parking",
    "backup_camera",
    "bed_liner",
    "blind_spot_monitor",
    "bluetooth",
    "captain_chairs",
    "cooled_seats",
    "cross_traffic_alert",
    "digital_cluster",
    "driver_memory",
    "dual_climate",
    "fog_lights",
    "forward_collision",
    "front_parking_sensors",
    "garage_opener",
    "head_up_display",
    "heated_mirrors",
    "heated_rear_seats",
    "heated_seats",
    "heated_wheel",
    "keyless_entry",
    "lane_departure",
    "lane_keeping",
    "leather_seats",
    "led_headlights",
    "navigation",
    "panoramic_roof",
    "power_liftgate",
    "power_seats",
    "premium_audio",
    "privacy_glass",
    "rain_wipers",
    "rear_parking_sensors",
    "remote_start",
    "roof_rack",
    "running_boards",
    "satellite_radio",
    "sunroof",
    "surround_camera",
    "third_row",
    "tow_package",
    "usb_ports",
    "wifi_hotspot",
    "wireless_charging",
];

/// Sentences of a description. `{}` is where the car is named.
pub(super) const SENTENCES: [&str; 24] = [
    "This {} has just arrived and is ready for its first drive with you behind the wheel.",
    "Our technicians went through a long list of checks before this {} was put on the lot.",
    "It was traded in locally by an owner who kept every service record since the day it was new.",
    "Two keys, the manuals and a full tank come with it, and the paint has been polished by hand.",
    "Ask for a video walk around and we will send one the same day, honest about every mark.",
    "Financing is available for most situations, with local banks that we have known for years.",
    "We take trades of any age, and an appraisal takes no longer than a cup of coffee.",
    "The cabin of this {} is quiet at speed and roomy enough for a family and a weekend of luggage.",
    "Tires and brakes were measured at intake and have more than half of their life left.",
    "Delivery to your door is possible within two hundred miles, paperwork included.",
    "The vehicle history shows no accidents and a single owner, and we hand you the report.",
    "Handling is crisp, the steering is direct, and the suspension takes rough roads in its stride.",
    "A limited warranty remains in force, and longer coverage can be added at a fair price.",
    "Safety systems watch the road ahead and the lanes beside, and warn early rather than often.",
    "Come by for a test drive any day of the week, evenings too, no appointment needed.",
    "Prices are reviewed every morning against the market, so what you see is what you pay.",
    "The seats were cleaned and conditioned and show almost no wear for their age.",
    "Fuel economy is better than you would expect from a {} of this size.",
    "Everything electric was tested, from the windows to the last charging port in the back.",
    "If it is not what you hoped for, bring it back within five days for a full refund.",
    "Our family has sold cars on this street for three generations and intends to stay.",
    "Cold starts, long trips and heavy loads are all in a day's work for this {}.",
    "Photos were taken on the lot last week, in daylight and without any retouching.",
    "Please call ahead to make sure that this {} has not found its new home already.",
];
